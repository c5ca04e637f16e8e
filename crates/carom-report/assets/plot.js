"use strict";
// Plots: values under the pointer, zoom by dragging or by the wheel, back by a double click.

const SVG = "http://www.w3.org/2000/svg";
const COLORS = 7;
// Values that differ by less than this, relatively, are drawn as one.
const CONSTANT = 1e-8;

function bytes(text) {
  const raw = atob(text);
  const array = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) array[k] = raw.charCodeAt(k);
  return array.buffer;
}

const doubles = (text) => new Float64Array(bytes(text));

function shape(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function tag(parent, name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

const superscript = (k) => [...String(k)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
const minus = (text) => (/^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace("-", "−"));

function numberText(x) {
  if (x === 0 || (Math.abs(x) >= 1e-4 && Math.abs(x) < 1e7)) return minus(String(Number(x.toPrecision(6))));
  const [digits, power] = x.toExponential(5).split("e");
  return minus(String(Number(digits))) + "·10" + superscript(Number(power));
}

// Ticks at round numbers; on a logarithmic axis low and high are logarithms to base 10.
function ticks(low, high, log, count) {
  if (log && Math.floor(high) > Math.ceil(low)) {
    const stride = Math.max(1, Math.ceil((Math.floor(high) - Math.ceil(low)) / count));
    const at = [];
    for (let k = Math.ceil(low); k <= high; k += stride) at.push([k, "10" + superscript(k)]);
    return { at, exponent: 0 };
  }
  if (log) {
    const at = [];
    for (let k = Math.floor(low); k <= high; k++) {
      for (const digit of [1, 2, 3, 5]) {
        const place = k + Math.log10(digit);
        if (place >= low && place <= high) at.push([place, numberText(digit * 10 ** k)]);
      }
    }
    return { at, exponent: 0 };
  }
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((x) => x >= 0.7 * rough);
  const magnitude = Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high))));
  const exponent = magnitude >= -2 && magnitude < 5 ? 0 : magnitude;
  const decimals = Math.min(15, Math.max(0, exponent - Math.floor(Math.log10(step) + 1e-9)));
  const at = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k++) {
    at.push([k * step, minus(((k * step) / 10 ** exponent).toFixed(decimals))]);
  }
  return { at, exponent };
}

class Plot {
  constructor(host, chart) {
    this.chart = chart;
    this.series = chart.series.map((series, k) => this.readSeries(series, k));
    this.impacts = doubles(chart.impacts);
    this.home = this.fit();
    this.range = [...this.home];
    const figure = tag(host, "figure");
    tag(figure, "figcaption", "", chart.title);
    this.legend(figure);
    this.box = tag(figure, "div", "plot");
    this.svg = shape(this.box, "svg", { role: "img", tabindex: "0", "aria-label": `${chart.title}: ${chart.y.label} over ${chart.x.label}` });
    this.tip = tag(this.box, "div", "tip");
    this.tip.hidden = true;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.draw();
  }

  readSeries(series, k) {
    const data = doubles(series.data);
    const n = data.length / 2;
    const [x, y] = [new Float64Array(n), new Float64Array(n)];
    let sorted = true;
    for (let i = 0; i < n; i++) {
      x[i] = this.chart.x.log ? Math.log10(data[2 * i]) : data[2 * i];
      y[i] = this.chart.y.log ? Math.log10(data[2 * i + 1]) : data[2 * i + 1];
      if (i > 0 && !(x[i] >= x[i - 1])) sorted = false;
    }
    return { label: series.label, mark: series.mark, x, y, sorted, color: `var(--c${k % COLORS})`, dash: k < COLORS ? "" : "6 3" };
  }

  // The range that shows everything: x0, x1, y0, y1.
  fit() {
    const span = (pick, margin, log, zero) => {
      let [low, high] = [Infinity, -Infinity];
      for (const series of this.series) {
        for (let i = 0; i < series.x.length; i++) {
          if (!Number.isFinite(series.x[i]) || !Number.isFinite(series.y[i])) continue;
          low = Math.min(low, series[pick][i]);
          high = Math.max(high, series[pick][i]);
        }
      }
      if (zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
      if (!(low <= high)) return [0, 1];
      const size = Math.max(Math.abs(low), Math.abs(high));
      if (high - low <= CONSTANT * size) {
        const room = log ? 0.5 : 0.05 * size || 1;
        return [low - room, high + room];
      }
      return [low - margin * (high - low), high + margin * (high - low)];
    };
    const stems = this.series.some((series) => series.mark === "stems");
    return [...(this.chart.x.extent ?? span("x", 0.04, this.chart.x.log, false)), ...span("y", 0.06, this.chart.y.log, stems)];
  }

  legend(figure) {
    const legend = tag(figure, "div", "legend");
    for (const series of this.series) {
      if (!series.label) continue;
      const entry = tag(legend, "span");
      const line = tag(entry, "i");
      line.style.borderColor = series.color;
      if (series.dash) line.style.borderTopStyle = "dashed";
      entry.append(series.label);
    }
  }

  place(x, y) {
    const [left, right, top, bottom] = this.area;
    const [x0, x1, y0, y1] = this.shown;
    return [left + ((x - x0) / (x1 - x0)) * (right - left), bottom - ((y - y0) / (y1 - y0)) * (bottom - top)];
  }

  value(px, py) {
    const [left, right, top, bottom] = this.area;
    const [x0, x1, y0, y1] = this.shown;
    return [x0 + ((px - left) / (right - left)) * (x1 - x0), y0 + ((bottom - py) / (bottom - top)) * (y1 - y0)];
  }

  draw() {
    const [width, height] = [this.box.clientWidth, this.box.clientHeight];
    if (width < 60) return;
    this.area = [72, width - 18, 8, height - 44];
    this.shown = this.chart.equal ? this.equal(this.range) : this.range;
    this.svg.replaceChildren();
    this.drawAxes(width, height);
    const id = `clip${Plot.count++}`;
    const [left, right, top, bottom] = this.area;
    shape(shape(this.svg, "clipPath", { id }), "rect", { x: left, y: top, width: right - left, height: bottom - top });
    const inner = shape(this.svg, "g", { "clip-path": `url(#${id})` });
    for (const t of this.impacts) {
      const [x] = this.place(this.chart.x.log ? Math.log10(t) : t, 0);
      shape(inner, "path", { d: `M${x} ${top}V${bottom}`, stroke: "var(--impact)", "stroke-dasharray": "3 3" });
    }
    for (const series of this.series) this.drawSeries(inner, series);
    this.cursor = shape(inner, "path", { stroke: "var(--cursor)", "stroke-width": 1.5, visibility: "hidden" });
    this.cross = shape(inner, "g", {});
    this.select = shape(this.svg, "rect", { fill: "var(--c0)", "fill-opacity": 0.15, stroke: "var(--c0)", visibility: "hidden" });
    this.showTime(this.time);
  }

  // The range, widened until both axes have the same scale.
  equal([x0, x1, y0, y1]) {
    const [left, right, top, bottom] = this.area;
    const unit = Math.max((x1 - x0) / (right - left), (y1 - y0) / (bottom - top));
    const [wide, high] = [(unit * (right - left)) / 2, (unit * (bottom - top)) / 2];
    const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    return [x - wide, x + wide, y - high, y + high];
  }

  drawAxes(width, height) {
    const [left, right, top, bottom] = this.area;
    const [x0, x1, y0, y1] = this.shown;
    const across = ticks(x0, x1, this.chart.x.log, Math.max(2, Math.round(width / 90)));
    const up = ticks(y0, y1, this.chart.y.log, Math.max(2, Math.round(height / 60)));
    for (const [x, label] of across.at) {
      const [px] = this.place(x, 0);
      shape(this.svg, "path", { d: `M${px} ${top}V${bottom}`, stroke: "var(--grid)" });
      shape(this.svg, "text", { x: px, y: bottom + 17, "text-anchor": "middle" }, label);
    }
    for (const [y, label] of up.at) {
      const [, py] = this.place(0, y);
      shape(this.svg, "path", { d: `M${left} ${py}H${right}`, stroke: "var(--grid)" });
      shape(this.svg, "text", { x: left - 6, y: py + 4, "text-anchor": "end" }, label);
    }
    shape(this.svg, "path", { d: `M${left} ${top}V${bottom}H${right}`, fill: "none", stroke: "var(--ink)" });
    const power = (exponent) => (exponent ? `   ×10${superscript(exponent)}` : "");
    const attributes = { class: "label", "text-anchor": "middle" };
    shape(this.svg, "text", { ...attributes, x: (left + right) / 2, y: bottom + 36 }, this.chart.x.label + power(across.exponent));
    const turn = `translate(14 ${(top + bottom) / 2}) rotate(-90)`;
    shape(this.svg, "text", { ...attributes, transform: turn }, this.chart.y.label + power(up.exponent));
  }

  drawSeries(parent, series) {
    const parts = { line: [], dots: [], stems: [] };
    const [, zero] = this.place(0, 0);
    // Of a curve over an ordered axis only what is in view is written, and one point on either side.
    let [from, to] = [0, series.x.length];
    if (series.sorted) [from, to] = [Math.max(0, lower(series.x, this.shown[0]) - 1), Math.min(to, lower(series.x, this.shown[1]) + 2)];
    let pen = "M";
    for (let i = from; i < to; i++) {
      const [x, y] = this.place(series.x[i], series.y[i]);
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        pen = "M";
        continue;
      }
      const at = `${x.toFixed(1)} ${y.toFixed(1)}`;
      parts.line.push(pen + at);
      parts.dots.push(`M${at}h.01`);
      parts.stems.push(`M${at}V${zero.toFixed(1)}`);
      pen = "L";
    }
    const stroke = { fill: "none", stroke: series.color, "stroke-linejoin": "round" };
    if (series.mark === "line" || series.mark === "both") {
      shape(parent, "path", { ...stroke, d: parts.line.join(""), "stroke-width": 1.6, "stroke-dasharray": series.dash });
    }
    if (series.mark === "stems") shape(parent, "path", { ...stroke, d: parts.stems.join(""), "stroke-width": 1.5 });
    if (series.mark !== "line") {
      const size = series.x.length > 400 ? 2 : series.x.length > 100 ? 4 : 6;
      shape(parent, "path", { ...stroke, d: parts.dots.join(""), "stroke-width": size, "stroke-linecap": "round" });
    }
  }

  listen() {
    const at = (event) => {
      const box = this.box.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      this.start = at(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (this.start) this.stretch(at(event));
      else this.hover(at(event));
    });
    this.svg.addEventListener("pointerup", (event) => this.release(at(event)));
    this.svg.addEventListener("pointercancel", () => this.release(null));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.svg.addEventListener("dblclick", () => this.zoom([...this.home]));
    this.svg.addEventListener("keydown", (event) => event.key === "Escape" && this.zoom([...this.home]));
    // The wheel belongs to the page until a plot was clicked.
    this.svg.addEventListener("wheel", (event) => {
      if (document.activeElement !== this.svg && !event.ctrlKey) return;
      event.preventDefault();
      this.turn(at(event), event.deltaY);
    }, { passive: false });
  }

  turn([px, py], delta) {
    const [x, y] = this.value(px, py);
    const factor = Math.exp(0.0015 * Math.max(-300, Math.min(300, delta)));
    const [x0, x1, y0, y1] = this.shown;
    this.zoom([x + (x0 - x) * factor, x + (x1 - x) * factor, y + (y0 - y) * factor, y + (y1 - y) * factor]);
  }

  stretch([px, py]) {
    const [left, right, top, bottom] = this.area;
    const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
    const [a, b] = [clamp(this.start[0], left, right), clamp(px, left, right)];
    const [c, d] = [clamp(this.start[1], top, bottom), clamp(py, top, bottom)];
    this.selected = [Math.min(a, b), Math.max(a, b), Math.min(c, d), Math.max(c, d)];
    const [x0, x1, y0, y1] = this.selected;
    this.hover(null);
    for (const [key, value] of Object.entries({ x: x0, y: y0, width: x1 - x0, height: y1 - y0, visibility: "visible" })) {
      this.select.setAttribute(key, value);
    }
  }

  release(end) {
    const selected = this.selected;
    this.start = this.selected = undefined;
    this.select.setAttribute("visibility", "hidden");
    if (!end || !selected) return;
    let [x0, x1, y0, y1] = selected;
    const [left, right, top, bottom] = this.area;
    if (x1 - x0 < 6 && y1 - y0 < 6) return;
    // A flat or narrow box means one axis only.
    if (x1 - x0 < 12) [x0, x1] = [left, right];
    if (y1 - y0 < 12) [y0, y1] = [top, bottom];
    const [low, high] = [this.value(x0, y1), this.value(x1, y0)];
    this.zoom([low[0], high[0], low[1], high[1]]);
  }

  zoom(range) {
    const wide = (a, b) => b - a > 1e-13 * Math.max(Math.abs(a), Math.abs(b), 1e-300);
    if (!range.every(Number.isFinite) || !wide(range[0], range[1]) || !wide(range[2], range[3])) return;
    this.range = range;
    this.draw();
  }

  hover(at) {
    this.cross.replaceChildren();
    this.tip.hidden = true;
    if (!at) return;
    const [left, right, top, bottom] = this.area;
    if (at[0] < left || at[0] > right || at[1] < top || at[1] > bottom) return;
    const found = this.nearest(at);
    if (!found.length) return;
    this.tip.replaceChildren();
    const real = (x, log) => numberText(log ? 10 ** x : x);
    tag(this.tip, "div", "", `${this.chart.x.label} = ${real(found[0].x, this.chart.x.log)}`);
    for (const { series, x, y } of found) {
      const line = tag(this.tip, "div");
      tag(line, "i").style.background = series.color;
      line.append(`${series.label || this.chart.y.label} = ${real(y, this.chart.y.log)}`);
      const [cx, cy] = this.place(x, y);
      shape(this.cross, "circle", { cx, cy, r: 4, fill: "var(--paper)", stroke: series.color, "stroke-width": 2 });
    }
    this.tip.hidden = false;
    const room = this.box.clientWidth - this.tip.offsetWidth - 4;
    const beside = at[0] + 14 > room ? at[0] - this.tip.offsetWidth - 14 : at[0] + 14;
    this.tip.style.left = `${Math.max(2, Math.min(room, beside))}px`;
    this.tip.style.top = `${Math.max(2, Math.min(this.box.clientHeight - this.tip.offsetHeight, at[1] - 20))}px`;
  }

  // Over an ordered axis the point of each curve next to the pointer; else the one nearest point.
  nearest([px, py]) {
    const [x] = this.value(px, py);
    const found = [];
    for (const series of this.series) {
      let [best, least] = [-1, Infinity];
      let [from, to] = [0, series.x.length];
      if (series.sorted) {
        const k = lower(series.x, x);
        [from, to] = [Math.max(0, k - 1), Math.min(to, k + 1)];
      }
      for (let i = from; i < to; i++) {
        const [a, b] = this.place(series.x[i], series.y[i]);
        const distance = series.sorted ? Math.abs(a - px) : Math.hypot(a - px, b - py);
        if (Number.isFinite(b) && distance < least) [best, least] = [i, distance];
      }
      if (best >= 0) found.push({ series, x: series.x[best], y: series.y[best], least });
    }
    if (this.series.every((series) => series.sorted)) return found;
    return found.sort((a, b) => a.least - b.least).slice(0, 1);
  }

  // Where the animation is.
  showTime(t) {
    this.time = t;
    if (t === undefined || this.chart.x.label !== "t" || !this.area) return;
    const [x] = this.place(t, 0);
    this.cursor.setAttribute("d", `M${x.toFixed(1)} ${this.area[2]}V${this.area[3]}`);
    this.cursor.setAttribute("visibility", "visible");
  }
}
Plot.count = 0;

// The first place at which a sorted list is not below x.
function lower(list, x) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}
