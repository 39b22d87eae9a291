type Transfer = (newLength?: number) => ArrayBuffer;
type Method = 'transfer' | 'transferToFixedLength';

const V8_MAJOR = Number(process.versions.v8.split('.')[0]);

/**
 * Has `transfer` to another length copy, as newer V8s do.
 *
 * V8 12, which Node 22 has, takes a shorter way: it frees the memory in place, although others still hold it. A device
 * that was to write there wrote to freed memory, and nothing that the addon can hold prevents it. A method that was
 * taken from the prototype before, or is that of another realm of `node:vm`, still does so.
 */
export function patchTransfer(prototype: ArrayBuffer = ArrayBuffer.prototype): void {
  // --frozen-intrinsics lets nobody mend it.
  if (V8_MAJOR > 12 || !('transfer' in prototype) || Object.isFrozen(prototype)) return;
  for (const name of ['transfer', 'transferToFixedLength'] as const) {
    const original = (prototype as unknown as Record<Method, Transfer>)[name];
    // A method of an object literal is no constructor and has the right name, as the original.
    const methods = {
      [name](this: ArrayBuffer & { resizable?: boolean }, ...args: [number?]): ArrayBuffer {
        const [newLength] = args;
        // Of a resizable one V8 copies; without another length nothing is freed.
        if (newLength === undefined || !(this instanceof ArrayBuffer) || this.resizable) {
          return Reflect.apply(original, this, args);
        }
        const bytes = Math.trunc(+newLength) || 0;
        if (bytes === this.byteLength) return Reflect.apply(original, this, []);
        const copy = new ArrayBuffer(bytes); // throws before anything has happened
        const whole = Reflect.apply(original, this, []);
        new Uint8Array(copy).set(new Uint8Array(whole, 0, Math.min(bytes, whole.byteLength)));
        Reflect.apply(original, whole, [0]); // lets go of the memory now, not when it is collected
        return copy;
      },
    };
    Object.defineProperty(prototype, name, {
      ...Object.getOwnPropertyDescriptor(prototype, name),
      value: methods[name],
    });
  }
}
