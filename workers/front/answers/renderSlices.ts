import { RENDER_SLICE_BYTES, RENDER_SLICE_OBJECTS } from '../../../core/limits.js';
import type { Entry } from '../../../core/threads/entries/entry.js';

/** Splits objects into runs that are encoded at once: each ends at `sliceBytes` bytes or RENDER_SLICE_OBJECTS. */
export function renderSlices(objects: readonly Entry[], sliceBytes = RENDER_SLICE_BYTES): Entry[][] {
  const slices: Entry[][] = [];
  let slice: Entry[] = [];
  let bytes = 0;
  for (const object of objects) {
    slice.push(object);
    bytes += object.length;
    if (bytes < sliceBytes && slice.length < RENDER_SLICE_OBJECTS) continue;
    slices.push(slice);
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
}
