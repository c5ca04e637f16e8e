// A report, used as a reader would use it.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { DESKTOP, PHONE, artefacts, carom, oneFont, open, quit } from "./browser.mjs";

const shot = (page, name) => page.screenshot({ path: join(artefacts, `${name}.png`) });
const clock = (page) => page.locator("output").textContent().then((text) => Number(text.replace("t = ", "")));
after(quit);

const ranges = (page) => page.evaluate(() => carom.plots.map((plot) => plot.range));

async function withReport(name, args, use, viewport, scheme, env) {
  carom("run", ...args, "--report", name);
  await withPage(name, use, viewport, scheme, env);
}

// Opens a page, and closes it whatever happens.
async function withPage(name, use, viewport, scheme, env) {
  const report = await open(name, viewport, scheme, env);
  report.page.setDefaultTimeout(5000);
  try {
    await use(report.page, report);
    assert.deepEqual(report.complaints, []);
  } finally {
    await report.close();
  }
}

test("the animation plays by itself, repeats, and keeps 30 pictures a second; the space bar pauses it", async () => {
  await withReport("double-pendulum.html", ["double-pendulum"], async (page) => {
    const play = page.getByRole("button", { name: "play or pause" });
    assert.match(await play.textContent(), /pause/);
    const before = await page.evaluate(() => [carom.animation.drawn, performance.now(), carom.animation.time]);
    await page.waitForTimeout(2000);
    const after = await page.evaluate(() => [carom.animation.drawn, performance.now(), carom.animation.time]);
    const [pictures, seconds, time] = [0, 1, 2].map((k) => after[k] - before[k]);
    console.log(`${((1000 * pictures) / seconds).toFixed(0)} pictures a second`);
    assert.ok((1000 * pictures) / seconds >= 30, `${(1000 * pictures) / seconds} pictures a second`);
    assert.ok(Math.abs(time - seconds / 1000) < 0.2, `${time} of t in ${seconds} ms: 1× is not real time`);
    await shot(page, "playing");
    await page.keyboard.press("Space");
    const paused = await clock(page);
    await page.waitForTimeout(300);
    assert.equal(await clock(page), paused);
    assert.match(await play.textContent(), /play/);
    await page.evaluate(() => carom.animation.show(7.9));
    await page.keyboard.press("Space");
    await page.waitForTimeout(600);
    const again = await clock(page);
    assert.ok(again < 2, `t = ${again}: it does not begin again`);
    await play.click();
    assert.equal(await page.evaluate(() => carom.animation.playing), false);
  });
});

test("a page that is not in real time says so", async () => {
  await withReport("squeezer.html", ["squeezer"], async (page) => {
    const rate = await page.evaluate(() => carom.animation.rate);
    assert.ok(rate < 0.1);
    const told = await page.getByLabel("speed").locator("option:checked").textContent();
    assert.ok(Math.abs(Number(told.replace("×", "")) / rate - 1) < 0.01, `${told}, not ${rate}`);
    assert.match(await page.locator("main").innerText(), /A second of the animation is 0\.00\d+ of t/);
  });
});

test("the scrubber and the buttons lead to the impacts, where it flashes", async () => {
  await withReport("double-pendulum.html", ["double-pendulum"], async (page) => {
    const first = Number(JSON.parse(carom("run", "double-pendulum", "--json")).impacts[0].t);
    await page.evaluate(() => carom.animation.scrub(0));
    await page.getByRole("button", { name: "to the next impact" }).click();
    assert.ok(Math.abs((await clock(page)) - first) < 1e-3, `${await clock(page)}, not ${first}`);
    // The ring of the flash is there just after the impact, around the second bob, and nowhere just before it.
    const ring = () => page.evaluate(() => {
      const copy = new OffscreenCanvas(carom.animation.canvas.width, carom.animation.canvas.height);
      const pen = copy.getContext("2d", { willReadFrequently: true });
      pen.drawImage(carom.animation.canvas, 0, 0);
      const { data } = pen.getImageData(0, 0, copy.width, copy.height);
      let [found, x, y] = [0, 0, 0];
      for (let k = 0; k < data.length; k += 4) {
        if (!(data[k] > 120 && data[k + 1] < 90 && data[k + 2] > 140 && data[k + 3] > 100)) continue;
        [found, x, y] = [found + 1, x + ((k / 4) % copy.width), y + Math.floor(k / 4 / copy.width)];
      }
      return { found, at: [x / found, y / found] };
    });
    await page.evaluate((t) => { carom.animation.trails.checked = false; carom.animation.scrub(t + 0.05); }, first);
    const flashing = await ring();
    await page.evaluate((t) => carom.animation.scrub(t - 0.05), first);
    const calm = await ring();
    assert.ok(flashing.found > calm.found + 100, `${flashing.found} pixels of the flash's colour, ${calm.found} without it`);
    const impact = JSON.parse(carom("run", "double-pendulum", "--json")).impacts[0];
    const [a, b] = [impact.q[0], impact.q[0] + impact.q[1]];
    const bob = await page.evaluate(([x, y]) => carom.animation.onCanvas(x, y), [Math.sin(a) + Math.sin(b), -Math.cos(a) - Math.cos(b)]);
    const off = Math.hypot(flashing.at[0] - bob[0], flashing.at[1] - bob[1]);
    assert.ok(off < 3, `it flashes ${off} pixels off the contact`);
    const slider = page.getByLabel("time", { exact: true });
    await slider.focus();
    await slider.press("End");
    assert.equal(await clock(page), 8);
    // The slider has no use for the space bar: it still plays and pauses.
    for (const plays of [true, false]) {
      await slider.press("Space");
      assert.equal(await page.evaluate(() => carom.animation.playing), plays);
    }
    await slider.press("End");
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
    // The time cursor has a colour that no curve has.
    const colors = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      return ["--cursor", ...Array.from({ length: COLORS }, (_, k) => `--c${k}`)].map((name) => style.getPropertyValue(name));
    });
    assert.equal(await page.evaluate(() => carom.plots[0].cursor.getAttribute("stroke")), "var(--cursor)");
    assert.ok(!colors.slice(1).includes(colors[0]), String(colors));
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

// Of two pictures of a part of the page, with and without something, the pixels that differ.
async function difference(page, clip, hide) {
  const first = await page.screenshot({ clip });
  const style = await page.addStyleTag({ content: hide });
  const second = await page.screenshot({ clip });
  await style.evaluate((element) => element.remove());
  return page.evaluate(async (pictures) => {
    const [a, b] = await Promise.all(pictures.map(async (text) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]));
      const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
      pen.drawImage(image, 0, 0);
      return pen.getImageData(0, 0, image.width, image.height).data;
    }));
    let count = 0;
    for (let k = 0; k < a.length; k += 4) count += Math.abs(a[k] - b[k]) > 100 ? 1 : 0;
    return count;
  }, [first, second].map((picture) => picture.toString("base64")));
}

test("every dot of a velocity is seen, and brackets grow, with any font", async () => {
  for (const [name, env] of [["all", process.env], ["one", oneFont()]]) {
    await withReport("cart-pendulum.html", ["cart-pendulum", "--method", "cva"], async (page) => {
      await page.evaluate(() => carom.animation.scrub(0));
      const dots = page.locator('[class^="dot"]');
      assert.ok((await dots.count()) > 20, `${await dots.count()} dots`);
      for (let k = 0; k < (await dots.count()); k += 7) {
        await dots.nth(k).scrollIntoViewIfNeeded();
        const { x, y, width, height } = await dots.nth(k).boundingBox();
        const clip = { x: x - 4, y: y - 4, width: width + 8, height: height + 4 };
        const seen = await difference(page, clip, '[class^="dot"]::before { visibility: hidden; }');
        assert.ok(seen >= 2, `dot ${k} with the fonts "${name}": ${seen} pixels`);
      }
      const inside = await page.evaluate(() => [...document.querySelectorAll(".matrix, .paren")].map((bracket) => {
        const tallest = Math.max(...[...bracket.querySelectorAll("*")].map((part) => part.getBoundingClientRect().height));
        return bracket.getBoundingClientRect().height - tallest;
      }));
      assert.ok(inside.length > 0 && inside.every((more) => more > -1), `brackets are smaller than what they hold: ${inside}`);
      await page.getByRole("heading", { name: "Equations", exact: true }).scrollIntoViewIfNeeded();
      await shot(page, `equations-${name}`);
    }, DESKTOP, "light", env);
  }
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
        await view.evaluate(() => carom.animation.scrub(0.4 * carom.animation.length));
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
    assert.equal(await page.evaluate(() => carom.plots.length), 6);
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

test("a drawing of space turns with the pointer, and a double click turns it back", async () => {
  await withReport("racket.html", ["racket"], async (page) => {
    await page.evaluate(() => carom.animation.scrub(0.4));
    const places = () => page.evaluate(() => carom.animation.motion.shapes.flatMap((shape) => shape.at.map((point) => carom.animation.at(point, 0.4))));
    const kinds = await page.evaluate(() => carom.animation.motion.shapes.map((shape) => shape.kind));
    assert.ok(kinds.includes("floor"), `${kinds}: no floor`);
    const home = await places();
    await shot(page, "space");
    const box = await page.locator("canvas").first().boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let k = 1; k <= 10; k++) await page.mouse.move(x + 12 * k, y + 6 * k);
    await page.mouse.up();
    const [yaw, pitch] = await page.evaluate(() => carom.animation.turn);
    assert.ok(Math.abs(yaw - 1.2) < 0.15 && Math.abs(pitch - 0.6) < 0.1, `${yaw}, ${pitch}`);
    const turned = await places();
    assert.ok(turned.some((place, k) => Math.hypot(place[0] - home[k][0], place[1] - home[k][1]) > 20), "nothing has turned");
    await shot(page, "space-turned");
    // Turning is rigid: distances in space are kept.
    const lengths = () => page.evaluate(() => {
      const spots = carom.animation.motion.shapes.flatMap((shape) => shape.at.map((point) => carom.animation.spot(point, 0.4)));
      return spots.map((spot) => Math.hypot(...spot.map((v, i) => v - spots[0][i])));
    });
    const after = await lengths();
    await page.mouse.dblclick(x, y);
    assert.deepEqual(await page.evaluate(() => carom.animation.turn), [0, 0]);
    const before = await lengths();
    assert.ok(before.every((length, k) => Math.abs(length - after[k]) < 1e-5 * (1 + length)), "it is bent");
    assert.deepEqual(await places(), home);
  });
});
