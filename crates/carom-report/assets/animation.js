"use strict";
// The motion: play and pause, speed, a scrubber, trails, flashes at impacts.

class Animation {
  constructor(host, motion, onTime) {
    this.motion = motion;
    this.onTime = onTime;
    this.points = motion.points.map((text) => new Float32Array(bytes(text)));
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
    this.controls(tag(stage, "div", "controls"));
    new ResizeObserver(() => this.resize()).observe(stage);
    this.resize();
    this.show(0);
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
    for (const [text, value] of [["¼×", 0.25], ["½×", 0.5], ["1×", 1], ["2×", 2], ["4×", 4]]) {
      const option = tag(speed, "option", "", text);
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
    if (this.time >= this.length) {
      this.time = this.length;
      this.toggle();
    }
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
    return [this.shift[0] + this.scale * x, this.shift[1] - this.scale * y];
  }

  paint() {
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    this.color = (name) => style.getPropertyValue(name);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.lineCap = pen.lineJoin = "round";
    if (this.trails.checked) this.paintTrails(pen);
    let disks = 0;
    for (const shape of this.motion.shapes) {
      const ink = this.isFixed(shape) ? "--faint" : "--ink";
      if (shape.link) this.line(pen, shape.link.map((point) => this.at(point, this.time)), ink, 2.5);
      if (shape.segment) this.line(pen, shape.segment.map((point) => this.at(point, this.time)), "--faint", 2);
      if (shape.disk === undefined) continue;
      const color = this.isFixed(shape) ? "--faint" : `--c${disks++ % COLORS}`;
      this.disk(pen, this.at(shape.disk, this.time), shape.radius, color);
    }
    this.paintFlashes(pen);
    this.paintWords(pen);
    this.drawn++;
  }

  // What never moves belongs to the surroundings.
  isFixed(shape) {
    return (shape.link ?? shape.segment ?? [shape.disk]).every((point) => this.points[point].length === 2);
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
    pen.arc(x, y, Math.max(3 * this.thick, radius * this.scale), 0, 2 * Math.PI);
    pen.fill();
  }

  paintTrails(pen) {
    const parts = 24;
    const long = Math.min(1.2 * this.rate, 400 * this.motion.dt);
    this.motion.traced.forEach((point, k) => {
      for (let part = 0; part < parts; part++) {
        const from = this.time - (long * (parts - part)) / parts;
        const to = from + long / parts;
        if (to <= 0) continue;
        const steps = Math.max(1, Math.min(60, Math.ceil((to - from) / this.motion.dt)));
        const path = [];
        for (let s = 0; s <= steps; s++) path.push(this.at(point, Math.max(0, from + ((to - from) * s) / steps)));
        pen.globalAlpha = (0.65 * (part + 1)) / parts;
        this.line(pen, path, `--c${k % COLORS}`, 1.6);
      }
    });
    pen.globalAlpha = 1;
  }

  paintFlashes(pen) {
    const long = 0.4 * this.rate;
    for (const [t, point] of this.motion.flashes) {
      const age = (this.time - (t - this.motion.begin)) / long;
      if (age < -1e-9 || age >= 1) continue;
      const [x, y] = this.at(point, t - this.motion.begin);
      pen.globalAlpha = 1 - age;
      pen.strokeStyle = this.color("--c1");
      pen.lineWidth = 3.5 * this.thick;
      pen.beginPath();
      pen.arc(x, y, (9 + 18 * Math.max(0, age)) * this.thick, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  paintWords(pen) {
    pen.fillStyle = this.color("--ink");
    pen.font = `${13 * this.thick}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [text, [x, y]] of this.motion.words) {
      pen.fillText(text, this.shift[0] + this.scale * x, this.shift[1] - this.scale * y);
    }
  }
}
