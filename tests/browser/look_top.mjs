import { join } from "node:path";
import { DESKTOP, PHONE, artefacts, open } from "./browser.mjs";
const height = Number(process.env.H ?? 1750);
for (const name of process.argv.slice(2)) {
  const { page, complaints, close } = await open(name, { width: 1280, height }, "light");
  await page.evaluate(() => carom.animation && carom.animation.show(0.4 * carom.animation.length));
  await page.screenshot({ path: join(artefacts, `top-${name.replace(/\W/g, "-")}.png`) });
  if (complaints.length) console.log(name, complaints);
  await close();
}
