import { object, type Shape, text } from './shapes.js';

/** A key in a Secret. */
export const secretKey = (about: string): Shape =>
  object(
    about,
    { name: text('Name of the Secret.'), key: text('Key in the Secret.') },
    { required: ['name'], 'x-kubernetes-map-type': 'atomic' },
  );
