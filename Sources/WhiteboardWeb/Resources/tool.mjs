/** A tool that does nothing; the other tools replace some of its methods. Places are in CSS pixels. */
export class Tool {
  constructor(ui) { this.ui = ui; }
  down() {}
  move() {}
  up() {}
  cancel() {}
  doubleTap() {}
  hover() {}
  draw() { return null; }
  board([x, y, ...rest]) { return [...this.ui.camera.toBoard([x, y]), ...rest]; }
}
