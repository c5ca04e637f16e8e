// Pictures of pages, whole, for looking at: node look.mjs NAME.html …

import { join } from "node:path";
import { DESKTOP, PHONE, artefacts, open, quit } from "./browser.mjs";

for (const name of process.argv.slice(2)) {
  for (const [size, viewport, scheme] of [["desktop", DESKTOP, "light"], ["phone", PHONE, "dark"]]) {
    const { page, complaints, close } = await open(name, viewport, scheme);
    const animated = await page.evaluate(() => typeof carom !== "undefined" && Boolean(carom.animation));
    if (animated) await page.evaluate(() => carom.animation.scrub(0.4 * carom.animation.length));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) complaints.push(`${wide} pixels too wide`);
    await page.screenshot({ path: join(artefacts, `${name.replace(/\W/g, "-")}-${size}.png`), fullPage: true });
    console.log(name, size, complaints.length ? complaints : "fine");
    await close();
  }
}
await quit();
