"use strict";
// The motion: it plays by itself and repeats; play and pause, speed, a scrubber, trails, flashes at impacts.

// As in pen.rs: the distance of the hatches and their length; the turns of a spring and half its width. As in scene.rs: the cells
// of a floor, the direction to the light, the faces of a box, and what is behind all that moves.
const HATCH = [9, 8];
const TURNS = 9;
const COIL = 6;
const CELLS = 8;
const LIGHT = [-0.35, 0.6, 0.72];
const FACES = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
const isBehind = (shape) => ["wall", "floor"].includes(shape.kind) || (shape.kind === "post" && shape.more);

// A path of points with some numbers each, between two pictures.
function between(path, width, place) {
  const last = path.length / width - 1;
  const now = Math.max(0, Math.min(last, place));
  const k = Math.min(Math.floor(now), Math.max(0, last - 1));
  const part = last > 0 ? now - k : 0;
  const next = Math.min(k + 1, last);
  return Array.from({ length: width }, (_, i) => path[width * k + i] + part * (path[width * next + i] - path[width * k + i]));
}

class Animation {
  constructor(host, motion, onTime) {
    this.motion = motion;
    this.onTime = onTime;
    this.points = motion.points.map((text) => new Float32Array(bytes(text)));
    this.depths = motion.depths.map((text) => new Float32Array(bytes(text)));
    this.turn = [0, 0];
    this.length = (motion.frames - 1) * motion.dt;
    this.rate = this.length / motion.seconds;
    this.time = 0;
    this.speed = 1;
    this.drawn = 0;
    this.playing = false;
    const stage = tag(host, "div", "stage");
    this.canvas = tag(stage, "canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "the motion");
    if (motion.up) this.turnable();
    this.controls(tag(stage, "div", "controls"));
    new ResizeObserver(() => this.resize()).observe(stage);
    this.resize();
    this.show(0);
    document.addEventListener("keydown", (event) => {
      // Buttons, menus and the checkbox have a use for the space bar of their own; the slider has none.
      if (event.key !== " " || event.target.closest("button, select, input:not([type=range]), summary")) return;
      event.preventDefault();
      this.toggle();
    });
    if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) this.toggle();
  }

  controls(bar) {
    const scrub = tag(bar, "div", "scrub");
    this.slider = tag(scrub, "input");
    Object.assign(this.slider, { type: "range", min: 0, max: this.length, step: this.length / 5000, value: 0 });
    this.slider.setAttribute("aria-label", "time");
    this.slider.addEventListener("input", () => this.scrub(Number(this.slider.value)));
    const marks = tag(scrub, "div", "ticks");
    if (this.motion.flashes.length <= 300) {
      for (const [t] of this.motion.flashes) {
        tag(marks, "i").style.left = `${(100 * (t - this.motion.begin)) / this.length}%`;
      }
    }
    const button = (text, title, action) => {
      const element = tag(bar, "button", "", text);
      element.type = "button";
      element.title = title;
      element.setAttribute("aria-label", title);
      element.addEventListener("click", action);
      return element;
    };
    this.button = button("▶ play", "play or pause", () => this.toggle());
    if (this.motion.flashes.length) {
      button("◂ impact", "to the impact before", () => this.toImpact(-1));
      button("impact ▸", "to the next impact", () => this.toImpact(1));
    }
    const speed = tag(bar, "select");
    speed.setAttribute("aria-label", "speed");
    speed.title = "1× is real time";
    for (const value of [0.25, 0.5, 1, 2, 4]) {
      const option = tag(speed, "option", "", `${numberText(Number((value * this.rate).toPrecision(3)))}×`);
      option.value = value;
      option.selected = value === 1;
    }
    speed.addEventListener("change", () => (this.speed = Number(speed.value)));
    const label = tag(bar, "label");
    this.trails = tag(label, "input");
    Object.assign(this.trails, { type: "checkbox", checked: true });
    this.trails.addEventListener("change", () => this.paint());
    label.append(" trails");
    this.clock = tag(bar, "output");
  }

  // Space: dragging turns the drawing about the vertical and tilts it; a double click turns it back.
  turnable() {
    const [x0, x1, y0, y1] = this.motion.view;
    const depths = this.depths.filter((path) => path.length).map((path) => path[0]);
    const depth = depths.length ? depths.reduce((sum, z) => sum + z, 0) / depths.length : 0;
    this.middle = [(x0 + x1) / 2, (y0 + y1) / 2, depth];
    this.canvas.title = "drag to turn; a double click turns it back";
    this.canvas.style.cursor = "grab";
    this.canvas.style.touchAction = "none";
    this.canvas.addEventListener("pointerdown", (event) => this.canvas.setPointerCapture(event.pointerId));
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) this.turnTo(this.turn[0] + 0.01 * event.movementX, this.turn[1] + 0.01 * event.movementY);
    });
    this.canvas.addEventListener("dblclick", () => this.turnTo(0, 0));
  }

  turnTo(yaw, pitch) {
    this.turn = [yaw, Math.max(-Math.PI, Math.min(Math.PI, pitch))];
    this.paint();
  }

  // A place after the turn about the vertical (0, up, towards the viewer) and about the horizontal of the picture.
  turned(x, y, z) {
    const [mx, my, mz] = this.middle;
    const [a, b] = this.motion.up;
    const [dx, dy, dz] = [x - mx, y - my, z - mz];
    const [c, s] = [Math.cos(this.turn[0]), Math.sin(this.turn[0])];
    const along = (a * dy + b * dz) * (1 - c);
    const [u, v, w] = [c * dx + s * (a * dz - b * dy), c * dy + s * b * dx + a * along, c * dz - s * a * dx + b * along];
    const [cos, sin] = [Math.cos(this.turn[1]), Math.sin(this.turn[1])];
    return [mx + u, my + v * cos - w * sin, mz + v * sin + w * cos];
  }

  resize() {
    const [x0, x1, y0, y1] = this.motion.view;
    const width = this.canvas.parentElement.clientWidth;
    const height = Math.min((width * (y1 - y0)) / (x1 - x0), Math.max(260, 0.62 * window.innerHeight));
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.scale = Math.min(this.canvas.width / (x1 - x0), this.canvas.height / (y1 - y0));
    this.shift = [(this.canvas.width - this.scale * (x1 - x0)) / 2 - this.scale * x0, (this.canvas.height + this.scale * (y1 - y0)) / 2 + this.scale * y0];
    this.thick = ratio;
    this.paint();
  }

  toggle() {
    this.playing = !this.playing;
    this.button.textContent = this.playing ? "❚❚ pause" : "▶ play";
    if (!this.playing) return;
    if (this.time >= this.length) this.time = 0;
    this.before = undefined;
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    if (!this.playing) return;
    if (this.before !== undefined) this.time += ((now - this.before) / 1000) * this.rate * this.speed;
    this.before = now;
    // It begins again; of a very long frame the rest counts.
    if (this.time > this.length) this.time = this.length > 0 ? this.time % this.length : 0;
    this.show(this.time);
    if (this.playing) requestAnimationFrame((next) => this.tick(next));
  }

  scrub(time) {
    if (this.playing) this.toggle();
    this.show(time);
  }

  // To an impact; the flash begins there.
  toImpact(direction) {
    const near = 1e-6 * this.length;
    const times = this.motion.flashes.map(([t]) => t - this.motion.begin);
    const next = direction > 0 ? times.find((t) => t > this.time + near) : times.findLast((t) => t < this.time - near);
    if (next !== undefined) this.scrub(next);
  }

  show(time) {
    this.time = time;
    this.slider.value = time;
    this.clock.textContent = `t = ${(this.motion.begin + time).toFixed(this.length < 1 ? 5 : 3)}`;
    this.paint();
    this.onTime(this.motion.begin + time);
  }

  // Where a point is on the canvas, between two pictures.
  at(point, time) {
    return this.onCanvas(...this.spot(point, time));
  }

  // Where a point is in the axes of the picture: x, y, and towards the viewer.
  spot(point, time) {
    const [x, y] = between(this.points[point], 2, time / this.motion.dt);
    const depth = this.depths[point];
    if (!depth) return [x, y, 0];
    const [z] = between(depth, 1, time / this.motion.dt);
    return this.isTurned() ? this.turned(x, y, z) : [x, y, z];
  }

  isTurned() {
    return this.turn[0] !== 0 || this.turn[1] !== 0;
  }

  onCanvas(x, y) {
    return [this.shift[0] + this.scale * x, this.shift[1] - this.scale * y];
  }

  paint() {
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    this.color = (name) => (name.startsWith("--") ? style.getPropertyValue(name) : name);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.lineCap = pen.lineJoin = "round";
    const shapes = this.order();
    this.paintShapes(pen, shapes.filter(isBehind));
    if (this.trails.checked) this.paintTrails(pen);
    this.paintShapes(pen, shapes.filter((shape) => !isBehind(shape)));
    this.paintFlashes(pen);
    this.paintWords(pen);
    this.drawn++;
  }

  // The shapes from back to front: in space by their distance.
  order() {
    if (!this.motion.up) return this.motion.shapes;
    const depth = (shape) => shape.at.reduce((sum, point) => sum + this.spot(point, this.time)[2], 0) / shape.at.length;
    const keyed = this.motion.shapes.map((shape) => [depth(shape), shape]);
    return keyed.sort(([a], [b]) => a - b).map(([, shape]) => shape);
  }

  paintShapes(pen, shapes) {
    for (const shape of shapes) {
      const at = shape.at.map((point) => this.at(point, this.time));
      if (at.flat().every(Number.isFinite)) this.paintShape(pen, shape, at);
    }
  }

  paintShape(pen, shape, at) {
    const { kind, color } = shape;
    const radius = shape.radius * this.scale;
    if (kind === "link" && this.motion.up) this.line(pen, at, "--paper", 5);
    if (kind === "link") this.line(pen, at, color, 2.5);
    if (kind === "cord") this.line(pen, at, color, 1.2);
    if (kind === "ball") this.ball(pen, at[0], Math.max(2 * this.thick, radius), color);
    if (kind === "capsule") this.capsule(pen, at, Math.max(1, radius / this.thick), color);
    if (kind === "block") this.block(pen, shape, at, color);
    if (kind === "floor") this.floor(pen, at);
    if (kind === "segment") this.line(pen, at, color, 2);
    if (kind === "spring") this.line(pen, this.coil(at[0], at[1]), color, 1.8);
    if (kind === "polygon") this.area(pen, at, color);
    if (kind === "disk") this.disk(pen, at[0], Math.max(3 * this.thick, radius), color);
    if (kind === "circle") this.circle(pen, at[0], Math.max(2 * this.thick, radius), color, 2);
    if (kind === "ground") this.ground(pen, at, color);
    if (kind === "wall") this.ground(pen, this.through(at[0], at[1]), color);
    if (kind === "post" && this.motion.up && !shape.more) this.disk(pen, at[0], this.radius(shape), this.light(color, 0.2));
    if (kind === "post") this.post(pen, at[0], this.radius(shape), shape.more, color);
    if (kind === "ring") {
      if (radius < 4 * this.thick) this.disk(pen, at[0], 4 * this.thick, "--paper");
      this.circle(pen, at[0], Math.max(4 * this.thick, radius), color, 1.5);
    }
  }

  // The radius of a circle whose centre and rim are given: it does not turn.
  radius(shape) {
    const [center, rim] = shape.at.map((point) => between(this.points[point], 2, this.time / this.motion.dt));
    return this.scale * Math.hypot(rim[0] - center[0], rim[1] - center[1]);
  }

  ball(pen, [x, y], radius, color) {
    this.disk(pen, [x, y], radius, color);
    this.disk(pen, [x - 0.3 * radius, y - 0.35 * radius], 0.4 * radius, this.light(color, 0.55));
  }

  capsule(pen, at, radius, color) {
    this.line(pen, at, color, 2 * radius);
    this.line(pen, at, this.light(color, 0.55), 0.7 * radius);
  }

  // A colour mixed with the background.
  light(color, part) {
    const numbers = (name) => [1, 3, 5].map((k) => parseInt(this.color(name).trim().slice(k, k + 2), 16));
    const [paper, ink] = [numbers("--paper"), numbers(color)];
    return `rgb(${paper.map((x, k) => Math.round(x + part * (ink[k] - x))).join(" ")})`;
  }

  // The faces of a box that look at the viewer, lighter towards the light.
  block(pen, shape, at, color) {
    const spots = shape.at.map((point) => this.spot(point, this.time));
    const middle = [0, 1, 2].map((i) => spots.reduce((sum, spot) => sum + spot[i], 0) / spots.length);
    const minus = (a, b) => a.map((x, i) => x - b[i]);
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    for (const face of FACES) {
      const [a, b, , d] = face.map((k) => spots[k]);
      const [[x, y, z], [u, v, w]] = [minus(b, a), minus(d, a)];
      const normal = [y * w - z * v, z * u - x * w, x * v - y * u];
      const out = (dot(normal, minus(a, middle)) < 0 ? -1 : 1) / Math.sqrt(dot(normal, normal));
      if (!(out * normal[2] > 0)) continue;
      const corners = face.map((k) => at[k]);
      this.area(pen, corners, this.light(color, 0.95 - 0.5 * Math.max(0, out * dot(normal, LIGHT))));
      this.line(pen, [...corners, corners[0]], color, 1.2);
    }
  }

  // A patch of a plane, with a grid.
  floor(pen, at) {
    this.area(pen, at, this.light("--faint", 0.12));
    const part = (a, b, k) => [a[0] + (k / CELLS) * (b[0] - a[0]), a[1] + (k / CELLS) * (b[1] - a[1])];
    const color = this.light("--faint", 0.35);
    for (let k = 0; k <= CELLS; k++) {
      this.line(pen, [part(at[0], at[1], k), part(at[3], at[2], k)], color, 1);
      this.line(pen, [part(at[0], at[3], k), part(at[1], at[2], k)], color, 1);
    }
  }

  area(pen, path, color) {
    pen.fillStyle = this.color(color);
    pen.beginPath();
    path.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.fill();
  }

  circle(pen, [x, y], radius, color, width) {
    pen.strokeStyle = this.color(color);
    pen.lineWidth = width * this.thick;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  // A line from place to place, hatched on the right as one goes.
  ground(pen, path, color) {
    this.line(pen, path, color, 2);
    const gap = HATCH[0] * this.thick;
    path.slice(1).forEach((to, k) => {
      const from = path[k];
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
      const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
      pen.beginPath();
      for (let s = gap / 2; s <= length; s += gap) this.hatch(pen, [from[0] + s * dx, from[1] + s * dy], [-dy, dx], [dx, dy]);
      this.strokeHatches(pen);
    });
  }

  // A circle, hatched on the outside if the inside is free, and on the inside otherwise.
  post(pen, [x, y], radius, inside, color) {
    this.circle(pen, [x, y], radius, color, 2);
    const count = Math.min(4000, Math.floor((2 * Math.PI * radius) / (HATCH[0] * this.thick)));
    pen.beginPath();
    for (let k = 0; k < count; k++) {
      const [c, s] = [Math.cos((2 * Math.PI * k) / count), Math.sin((2 * Math.PI * k) / count)];
      this.hatch(pen, [x + radius * c, y + radius * s], inside ? [c, s] : [-c, -s], [-s, c]);
    }
    this.strokeHatches(pen);
  }

  // Adds a hatch to the path, if it can be seen.
  hatch(pen, [x, y], out, along) {
    const long = HATCH[1] * this.thick;
    const { width, height } = this.canvas;
    if (x < -long || y < -long || x > width + long || y > height + long) return;
    pen.moveTo(x, y);
    pen.lineTo(x + long * Math.SQRT1_2 * (out[0] - along[0]), y + long * Math.SQRT1_2 * (out[1] - along[1]));
  }

  // Strokes the path in the colour of the line before it.
  strokeHatches(pen) {
    pen.lineWidth = this.thick;
    pen.stroke();
  }

  // The part of the line through two places that crosses the canvas, and more.
  through(from, to) {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const { width, height } = this.canvas;
    const along = (width / 2 - from[0]) * dx + (height / 2 - from[1]) * dy;
    const reach = Math.hypot(width, height);
    return [along - reach, along + reach].map((s) => [from[0] + s * dx, from[1] + s * dy]);
  }

  // The zigzag of a spring.
  coil(from, to) {
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const place = (s, side) => [from[0] + s * length * dx - side * dy, from[1] + s * length * dy + side * dx];
    const path = [from, place(0.12, 0)];
    for (let k = 0; k < 2 * TURNS; k++) path.push(place(0.12 + (0.76 * (k + 0.5)) / (2 * TURNS), (k % 2 ? -COIL : COIL) * this.thick));
    return [...path, place(0.88, 0), to];
  }

  line(pen, path, color, width) {
    pen.strokeStyle = this.color(color);
    pen.lineWidth = width * this.thick;
    pen.beginPath();
    path.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }

  disk(pen, [x, y], radius, color) {
    pen.fillStyle = this.color(color);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fill();
  }

  paintTrails(pen) {
    const parts = 24;
    const long = Math.min(1.2 * this.rate, 400 * this.motion.dt);
    for (const [point, color] of this.motion.traced) {
      for (let part = 0; part < parts; part++) {
        const from = this.time - (long * (parts - part)) / parts;
        const to = from + long / parts;
        if (to <= 0) continue;
        const steps = Math.max(1, Math.min(60, Math.ceil((to - from) / this.motion.dt)));
        const path = [];
        for (let s = 0; s <= steps; s++) path.push(this.at(point, Math.max(0, from + ((to - from) * s) / steps)));
        pen.globalAlpha = (0.65 * (part + 1)) / parts;
        this.line(pen, path, color, 1.6);
      }
    }
    pen.globalAlpha = 1;
  }

  paintFlashes(pen) {
    // The depth of a flash is not known.
    if (this.isTurned()) return;
    const long = 0.4 * this.rate;
    for (const [t, [x, y]] of this.motion.flashes) {
      const age = (this.time - (t - this.motion.begin)) / long;
      if (age < -1e-9 || age >= 1) continue;
      pen.globalAlpha = 1 - age;
      this.circle(pen, this.onCanvas(x, y), (9 + 18 * Math.max(0, age)) * this.thick, "--cursor", 3.5);
    }
    pen.globalAlpha = 1;
  }

  // Text at fixed places, labels, and names of shapes.
  paintWords(pen) {
    pen.fillStyle = this.color("--ink");
    pen.font = `${13 * this.thick}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [text, [x, y]] of this.motion.words) pen.fillText(text, ...this.onCanvas(x, y));
    for (const shape of this.motion.shapes) {
      const text = shape.kind === "label" ? shape.more : shape.name;
      if (!text) continue;
      const at = shape.at.map((point) => this.at(point, this.time));
      const mean = (k) => at.reduce((sum, place) => sum + place[k], 0) / at.length;
      const above = shape.kind === "label" ? 0 : shape.radius * this.scale + 11 * this.thick;
      const y = shape.kind === "polygon" ? Math.min(...at.map((place) => place[1])) : mean(1);
      pen.fillText(text, mean(0), y - above);
    }
  }
}
