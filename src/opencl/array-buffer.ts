type Transfer = (newLength?: number) => ArrayBuffer;
type Method = 'transfer' | 'transferToFixedLength';

const V8_MAJOR = Number(process.versions.v8.split('.')[0]);

/**
 * Makes `ArrayBuffer.prototype.transfer` copy when the length changes, as newer versions of V8 do.
 *
 * V8 12 (Node 22) frees the memory in place although others still hold it, so a device write that is in flight lands in
 * freed memory. The addon cannot prevent this. A method that was read from the prototype before the patch, or that
 * belongs to another realm of `node:vm`, stays unpatched.
 */
export function patchTransfer(prototype: ArrayBuffer = ArrayBuffer.prototype): void {
  // Under --frozen-intrinsics the prototype cannot be patched.
  if (V8_MAJOR > 12 || !('transfer' in prototype) || Object.isFrozen(prototype)) return;
  for (const name of ['transfer', 'transferToFixedLength'] as const) {
    const original = (prototype as unknown as Record<Method, Transfer>)[name];
    // A method of an object literal is not a constructor and has the right name, like the original.
    const methods = {
      [name](this: ArrayBuffer & { resizable?: boolean }, ...args: [number?]): ArrayBuffer {
        const [newLength] = args;
        // V8 copies a resizable buffer. Without a new length nothing is freed.
        if (newLength === undefined || !(this instanceof ArrayBuffer) || this.resizable) {
          return Reflect.apply(original, this, args);
        }
        const bytes = Math.trunc(+newLength) || 0;
        if (bytes === this.byteLength) return Reflect.apply(original, this, []);
        const copy = new ArrayBuffer(bytes); // throws before the original is touched
        const whole = Reflect.apply(original, this, []);
        new Uint8Array(copy).set(new Uint8Array(whole, 0, Math.min(bytes, whole.byteLength)));
        Reflect.apply(original, whole, [0]); // frees the memory now instead of at garbage collection
        return copy;
      },
    };
    Object.defineProperty(prototype, name, {
      ...Object.getOwnPropertyDescriptor(prototype, name),
      value: methods[name],
    });
  }
}
