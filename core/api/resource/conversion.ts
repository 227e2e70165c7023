import type { ApiObject } from '../../model/object.js';
import { Refusal } from '../../model/refusal.js';
import { requireMembers } from '../checks/parts.js';
import { type Awaitable, type Contributed, definePoint } from '../point.js';

/**
 * The webhook that converts the objects of a kind, as its definition names it.
 *
 * @example
 * const webhook: ConversionWebhook = { clientConfig: { url: 'https://127.0.0.1:8443' }, reviewVersions: ['v1'] };
 */
export interface ConversionWebhook {
  /** `url` or `service`, and `caBundle`. */
  readonly clientConfig: { readonly [member: string]: unknown };
  /** The versions of ConversionReview that it accepts, the preferred one first. */
  readonly reviewVersions: readonly string[];
}

/**
 * A kind with a schema of its own, as a Converter selects it.
 *
 * @example
 * const selects = ({ storageName }: ConvertedKind) => storageName === 'custom:tea.example.com/orders';
 */
export interface ConvertedKind {
  /** `customStorageName` of the kind: `custom:tea.example.com/orders`. */
  readonly storageName: string;
  readonly kind: string;
  readonly webhook?: ConversionWebhook;
}

/**
 * Converts the objects of kinds between their versions. It may change everything in an object except its kind and its
 * metadata; of the metadata, only labels and annotations. To refuse, throw Refusal.
 *
 * @example
 * const orders: Converter = {
 *   selects: ({ storageName }) => storageName === 'custom:tea.example.com/orders',
 *   convert: (_kind, objects, apiVersion) => objects.map(object => ({ ...toVersion(object, apiVersion), apiVersion })),
 * };
 */
export interface Converter {
  selects(kind: ConvertedKind): boolean;
  /** Converts objects of any other versions to one version. Returns them in their order. Must not change `objects`. */
  convert(kind: ConvertedKind, objects: readonly ApiObject[], apiVersion: string): Awaitable<readonly ApiObject[]>;
}

/**
 * Converts objects of one kind to a version, in their order.
 *
 * @example
 * const [converted] = await convert([object], 'tea.example.com/v1');
 */
export type ConvertObjects = (objects: readonly ApiObject[], apiVersion: string) => Awaitable<readonly ApiObject[]>;

/**
 * The combination of all converters: that of a kind, or undefined for a kind that none of them selects.
 *
 * @example
 * const convert = conversion(kind);
 */
export type Conversion = (kind: ConvertedKind) => ConvertObjects | undefined;

/** Throws TypeError unless the result is a list of as many objects as were given. */
function checkConverted(converted: readonly ApiObject[], { length }: readonly ApiObject[]): readonly ApiObject[] {
  if (Array.isArray(converted) && converted.length === length) return converted;
  throw new TypeError(`convert must return ${length} objects`);
}

const mayThrow = (thrown: unknown): boolean => thrown instanceof Refusal;

function firstSelecting(inputs: readonly Contributed<Converter>[]): Conversion {
  return kind => {
    const input = inputs.find(({ value }) => value.selects(kind));
    if (!input) return undefined;
    const { value, call } = input;
    return (objects, apiVersion) =>
      call(async () => checkConverted(await value.convert(kind, objects, apiVersion), objects), mayThrow);
  };
}

/**
 * Converts objects of custom kinds between versions, for kinds of definitions (instead of their webhooks) and of
 * plugins. The first converter that selects a kind converts its objects.
 *
 * @example
 * contribute: () => [converter.of(() => orders)]
 */
export const converter = definePoint<Converter>()(
  'converter',
  ['pool'],
  firstSelecting,
  requireMembers({ selects: 'function', convert: 'function' }),
);
