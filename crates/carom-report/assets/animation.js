"use strict";
// The motion: it plays by itself and repeats; play and pause, speed, a scrubber, trails, flashes at impacts.

// As in pen.rs: the distance of the hatches and their length; the turns of a spring and half its width.
const HATCH = [9, 8];
const TURNS = 9;
const COIL = 6;

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
      // Buttons, menus and sliders have a use for the space bar of their own.
      if (event.key !== " " || event.target.closest("button, select, input, summary")) return;
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
    return [mx + u, my + v * Math.cos(this.turn[1]) - w * Math.sin(this.turn[1])];
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
    const path = this.points[point];
    const last = path.length / 2 - 1;
    const place = Math.max(0, Math.min(last, time / this.motion.dt));
    const k = Math.min(Math.floor(place), Math.max(0, last - 1));
    const part = last > 0 ? place - k : 0;
    const [a, b] = [2 * k, 2 * Math.min(k + 1, last)];
    const x = path[a] + part * (path[b] - path[a]);
    const y = path[a + 1] + part * (path[b + 1] - path[a + 1]);
    const depth = this.depths[point];
    if (!depth || !this.isTurned()) return this.onCanvas(x, y);
    const frame = Math.max(0, Math.min(depth.length - 1, time / this.motion.dt));
    const [from, to] = [Math.floor(frame), Math.ceil(frame)];
    return this.onCanvas(...this.turned(x, y, depth[from] + (frame - from) * (depth[to] - depth[from])));
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
    if (this.trails.checked) this.paintTrails(pen);
    for (const shape of this.motion.shapes) {
      const at = shape.at.map((point) => this.at(point, this.time));
      if (at.flat().every(Number.isFinite)) this.paintShape(pen, shape, at);
    }
    this.paintFlashes(pen);
    this.paintWords(pen);
    this.drawn++;
  }

  paintShape(pen, shape, at) {
    const { kind, color } = shape;
    const radius = shape.radius * this.scale;
    if (kind === "link") this.line(pen, at, color, 2.5);
    if (kind === "segment") this.line(pen, at, color, 2);
    if (kind === "spring") this.line(pen, this.coil(at[0], at[1]), color, 1.8);
    if (kind === "polygon") this.area(pen, at, color);
    if (kind === "disk") this.disk(pen, at[0], Math.max(3 * this.thick, radius), color);
    if (kind === "circle") this.circle(pen, at[0], Math.max(2 * this.thick, radius), color, 2);
    if (kind === "ground") this.ground(pen, at, color);
    if (kind === "wall") this.ground(pen, this.through(at[0], at[1]), color);
    if (kind === "post") this.post(pen, at[0], Math.hypot(at[1][0] - at[0][0], at[1][1] - at[0][1]), shape.more, color);
    if (kind === "ring") {
      if (radius < 4 * this.thick) this.disk(pen, at[0], 4 * this.thick, "--paper");
      this.circle(pen, at[0], Math.max(4 * this.thick, radius), color, 1.5);
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
