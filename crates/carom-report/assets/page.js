"use strict";
// Puts the page together from its data.

const carom = { plots: [] };

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "☀ light" : "☾ dark";
  if (carom.animation) carom.animation.paint();
}

document.getElementById("theme").addEventListener("click", () => {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
});
setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

const data = JSON.parse(document.getElementById("data").textContent);
for (const chart of data.charts ?? []) carom.plots.push(new Plot(document.getElementById("plots"), chart));
if (data.motion) {
  const follow = (t) => carom.plots.forEach((plot) => plot.showTime(t));
  carom.animation = new Animation(document.getElementById("animation"), data.motion, follow);
}
