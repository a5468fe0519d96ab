/** Watches JSON text that arrives in pieces: is it a whole value yet? Constant memory, no parsing. */
export class JsonProgress {
  #depth = 0;
  #inText = false;
  #escaped = false;
  #begun = false;

  push(piece: string): void {
    for (let i = 0; i < piece.length; i++) {
      const char = piece.charCodeAt(i);
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (char === 92) this.#escaped = true;
        else if (char === 34) this.#inText = false;
      } else if (char === 34) {
        this.#inText = true;
        this.#begun = true;
      } else if (char === 123 || char === 91) {
        this.#depth++;
        this.#begun = true;
      } else if (char === 125 || char === 93) {
        this.#depth--;
      }
    }
  }

  /** An object or array that was opened is closed again. */
  get whole(): boolean {
    return this.#begun && this.#depth <= 0 && !this.#inText;
  }
}
