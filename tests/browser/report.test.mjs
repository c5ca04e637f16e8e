// A report, used as a reader would use it.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DESKTOP, PHONE, artefacts, carom, open } from "./browser.mjs";

const shot = (page, name) => page.screenshot({ path: join(artefacts, `${name}.png`) });
const clock = (page) => page.locator("output").textContent().then((text) => Number(text.replace("t = ", "")));
const ranges = (page) => page.evaluate(() => carom.plots.map((plot) => plot.range));

async function withReport(name, args, use, viewport, scheme) {
  carom("run", ...args, "--report", name);
  await withPage(name, use, viewport, scheme);
}

// Opens a page, and closes it whatever happens.
async function withPage(name, use, viewport, scheme) {
  const report = await open(name, viewport, scheme);
  report.page.setDefaultTimeout(5000);
  try {
    await use(report.page, report);
    assert.deepEqual(report.complaints, []);
  } finally {
    await report.close();
  }
}

test("the animation plays, pauses, and keeps 30 pictures a second", async () => {
  await withReport("double-pendulum.html", ["double-pendulum"], async (page) => {
    const play = page.getByRole("button", { name: "play or pause" });
    assert.equal(await clock(page), 0);
    await play.click();
    const before = await page.evaluate(() => [carom.animation.drawn, performance.now()]);
    await page.waitForTimeout(2000);
    const after = await page.evaluate(() => [carom.animation.drawn, performance.now()]);
    const rate = (1000 * (after[0] - before[0])) / (after[1] - before[1]);
    console.log(`${rate.toFixed(0)} pictures a second`);
    assert.ok(rate >= 30, `${rate} pictures a second`);
    await shot(page, "playing");
    await play.click();
    const paused = await clock(page);
    assert.ok(paused > 1 && paused < 4, `after two seconds t = ${paused}`);
    await page.waitForTimeout(300);
    assert.equal(await clock(page), paused);
    await page.getByLabel("speed").selectOption("4");
    await play.click();
    await page.waitForTimeout(2500);
    assert.equal(await clock(page), 8, "at four times the speed it is over");
    assert.match(await play.textContent(), /play/);
  });
});

test("the scrubber and the buttons lead to the impacts, where it flashes", async () => {
  await withReport("double-pendulum.html", ["double-pendulum"], async (page) => {
    const first = Number(JSON.parse(carom("run", "double-pendulum", "--json")).impacts[0].t);
    await page.getByRole("button", { name: "to the next impact" }).click();
    assert.ok(Math.abs((await clock(page)) - first) < 1e-3, `${await clock(page)}, not ${first}`);
    // The ring of the flash is there just after the impact and nowhere just before it.
    const ring = () => page.evaluate(() => {
      const copy = new OffscreenCanvas(carom.animation.canvas.width, carom.animation.canvas.height);
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(carom.animation.canvas, 0, 0);
      const { data } = pen.getImageData(0, 0, copy.width, copy.height);
      let found = 0;
      for (let k = 0; k < data.length; k += 4) found += Number(data[k] > 180 && data[k + 1] > 60 && data[k + 1] < 140 && data[k + 2] < 60 && data[k + 3] > 100);
      return found;
    });
    await page.evaluate((t) => { carom.animation.trails.checked = false; carom.animation.scrub(t + 0.05); }, first);
    const flashing = await ring();
    await page.evaluate((t) => carom.animation.scrub(t - 0.05), first);
    const calm = await ring();
    assert.ok(flashing > calm + 100, `${flashing} pixels of the flash's colour, ${calm} without it`);
    const slider = page.getByLabel("time", { exact: true });
    await slider.focus();
    await slider.press("End");
    assert.equal(await clock(page), 8);
    await page.getByRole("button", { name: "to the impact before" }).click();
    await shot(page, "impact");
  });
});

test("a plot tells values, zooms by dragging and by the wheel, and comes back", async () => {
  await withReport("double-pendulum.html", ["double-pendulum"], async (page) => {
    const plot = page.locator(".plot").first();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
    await page.mouse.move(...at(0.5, 0.4));
    const tip = plot.locator(".tip");
    assert.ok(await tip.isVisible());
    const told = await tip.innerText();
    assert.match(told, /t = 3\.\d+/);
    assert.match(told, /θ₁ = −?\d\.\d+/);
    // What it tells is what the run gives there.
    const t = Number(told.match(/t = ([\d.]+)/)[1]);
    const theta = Number(told.match(/θ₁ = (−?[\d.]+)/)[1].replace("−", "-"));
    const nodes = JSON.parse(carom("run", "double-pendulum", "--json", "--every", "0.001")).nodes;
    const near = nodes.reduce((a, b) => (Math.abs(a.t - t) < Math.abs(b.t - t) ? a : b));
    assert.ok(Math.abs(near.q[0] - theta) < 0.02, `${theta} at ${t}, not ${near.q[0]}`);
    await shot(page, "hover");
    const home = await ranges(page);
    await page.mouse.move(...at(0.4, 0.3));
    await page.mouse.down();
    await page.mouse.move(...at(0.6, 0.6), { steps: 5 });
    await page.mouse.up();
    const dragged = (await ranges(page))[0];
    assert.ok(dragged[0] > home[0][0] && dragged[1] < home[0][1], `${dragged} is not within ${home[0]}`);
    await shot(page, "zoomed");
    await page.mouse.wheel(0, -300);
    await page.waitForFunction((wide) => carom.plots[0].range[1] - carom.plots[0].range[0] < 0.9 * wide, dragged[1] - dragged[0]);
    await page.mouse.dblclick(...at(0.5, 0.5));
    assert.deepEqual(await ranges(page), home);
  });
});

test("light and dark, by the system and by the button", async () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await withReport("pendulum.html", ["pendulum"], async (page) => {
    assert.equal(await paper(page), "rgb(255, 255, 255)");
    await page.getByTitle("light or dark").click();
    assert.equal(await paper(page), "rgb(22, 24, 29)");
    await shot(page, "dark");
  });
  await withReport("pendulum.html", ["pendulum"], async (page) => {
    assert.equal(await paper(page), "rgb(22, 24, 29)");
    await page.getByTitle("light or dark").click();
    assert.equal(await paper(page), "rgb(255, 255, 255)");
  }, DESKTOP, "dark");
});

test("every shipped model's report fits a desk and a phone", async () => {
  const names = carom("examples").trim().split("\n").map((line) => line.split(" ")[0]);
  assert.ok(names.length >= 14);
  for (const name of names) {
    const page = `${name}.html`;
    try {
      carom("run", name, "--report", page);
    } catch (error) {
      if (error.status === 2) {
        assert.match(String(error.stderr), /cannot be simulated yet/, `${name}: ${error.stderr}`);
        continue;
      }
      // A run that fails on the way is drawn as far as it went.
      console.log(`${name} fails: ${error.stderr}`);
      assert.ok(existsSync(join(artefacts, page)), `${name}: ${error.stderr}`);
    }
    for (const [size, viewport, scheme] of [["desktop", DESKTOP, "light"], ["phone", PHONE, "dark"]]) {
      await withPage(page, async (view) => {
        await view.evaluate(() => carom.animation.show(0.4 * carom.animation.length));
        const extra = await view.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(extra <= 0, `${name} is ${extra} pixels too wide for a ${size}`);
        await view.screenshot({ path: join(artefacts, `${name}-${size}.png`), fullPage: true });
      }, viewport, scheme);
    }
  }
});

test("a run of a million steps makes a page under 5 MB that opens in 2 seconds", async () => {
  await withReport("long.html", ["double-pendulum", "--step", "0.01", "--until", "10000"], async (page, { seconds }) => {
    const megabytes = statSync(join(artefacts, "long.html")).size / 1e6;
    console.log(`${megabytes.toFixed(2)} MB, opened in ${seconds.toFixed(2)} s`);
    assert.ok(megabytes < 5, `${megabytes} MB`);
    assert.ok(seconds < 2, `${seconds} s`);
    assert.equal(await page.evaluate(() => carom.plots.length), 5);
    await shot(page, "long");
  });
});

test("what a model's text contains stays text", async () => {
  const evil = `</script><script>window.stung = 1</script><img src=x onerror="window.stung = 2">`;
  const text = carom("examples", "pendulum").replace(/^title = .*$/m, `title = '${evil}'`).replace(/name = "[^"]*"/, `name = '${evil}'`);
  writeFileSync(join(artefacts, "evil.toml"), text);
  await withReport("evil.html", ["evil.toml"], async (page) => {
    assert.equal(await page.evaluate(() => window.stung), undefined);
    assert.equal(await page.title(), evil);
    assert.equal(await page.locator("h1").textContent(), evil);
    assert.ok(await page.evaluate(() => carom.plots.length) > 0);
  });
  assert.ok(!readFileSync(join(artefacts, "evil.html"), "utf8").includes("<img src=x"));
});

test("a model without a drawing shows its coordinates on axes", async () => {
  const text = carom("examples", "cart-pendulum").replace(/\[points\][^]*$/, "");
  writeFileSync(join(artefacts, "bare.toml"), text);
  await withReport("bare.html", ["bare.toml"], async (page) => {
    assert.deepEqual(await page.evaluate(() => carom.animation.motion.words.map(([word]) => word).filter((word) => !/\d\.\d/.test(word))), ["y", "θ"]);
    await shot(page, "bare");
  });
});

test("figures of the papers are drawn with their claims", async () => {
  carom("paper", "dlm-fig3", "--report", "dlm-fig3.html");
  for (const [size, viewport] of [["desktop", DESKTOP], ["phone", PHONE]]) {
    await withPage("dlm-fig3.html", async (page) => {
      assert.deepEqual(await page.locator("figcaption").allTextContents(), ["MCVAA", "MCVAC"]);
      assert.match(await page.locator(".sides").innerText(), /Both runs have three impacts/);
      await page.screenshot({ path: join(artefacts, `dlm-fig3-${size}.png`), fullPage: true });
    }, viewport);
  }
});
