// Debian's Chromium, headless, with nothing of the user's.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const artefacts = join(root, "target/browser");
mkdirSync(artefacts, { recursive: true });

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
export const DESKTOP = { width: 1280, height: 720 };
export const PHONE = { width: 390, height: 844 };

// Runs the command; what it prints is returned.
export function carom(...args) {
  const program = process.env.CAROM ?? join(root, "target/debug/carom");
  return execFileSync(program, args, { encoding: "utf8", cwd: artefacts, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

// The environment of a machine that has one font, without mathematics.
export function oneFont() {
  const folder = mkdtempSync(join(tmpdir(), "carom-fonts-"));
  symlinkSync(execFileSync("fc-match", ["--format=%{file}", "DejaVu Sans"], { encoding: "utf8" }), join(folder, "font.ttf"));
  writeFileSync(join(folder, "fonts.conf"), `<fontconfig><dir>${folder}</dir><cachedir>${folder}</cachedir></fontconfig>`);
  return { ...process.env, FONTCONFIG_FILE: join(folder, "fonts.conf") };
}

// One browser for each environment, closed by `quit`.
const browsers = new Map();

async function browser(env) {
  if (!browsers.has(env)) {
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    browsers.set(env, await chromium.launch({ executablePath, args: FLAGS, env }));
  }
  return browsers.get(env);
}

export async function quit() {
  for (const started of browsers.values()) await started.close();
}

// Opens a file in a new context; every error of the page and every request for anything but the file itself is kept.
export async function open(file, viewport = DESKTOP, colorScheme = "light", env = process.env) {
  const context = await (await browser(env)).newContext({ viewport, colorScheme });
  const page = await context.newPage();
  const url = pathToFileURL(join(artefacts, file)).href;
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:")) complaints.push(`fetched ${request.url()}`);
  });
  const begin = performance.now();
  await page.goto(url);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const seconds = (performance.now() - begin) / 1000;
  return { page, complaints, seconds, close: () => context.close() };
}
