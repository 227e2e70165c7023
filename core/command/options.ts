import type { Setting } from '../settings/setting.js';
import { networks, portRange } from '../settings/serviceRanges.js';
import { SETTINGS } from '../settings/settingsTable.js';
import type { Settings } from '../settings/settings.js';
import { duration, flag, formatDuration } from '../settings/values.js';

/** A flag of `capstan serve`. */
export interface Option extends Setting<unknown> {
  readonly setting: keyof Settings;
  readonly default?: unknown;
}

/** All flags by name, without dashes. */
export const OPTIONS: ReadonlyMap<string, Option> = new Map(
  Object.entries<Setting<unknown>>(SETTINGS).map(([setting, option]) => [
    option.flag,
    { ...option, setting: setting as keyof Settings },
  ]),
);

/** Whether a flag may be given without a value, which means true. */
export const isValueOptional = ({ read }: Option): boolean => read === flag;

/**
 * Whether a value is a list, to which further values of the same flag are appended. Ranges are arrays, but single
 * values.
 */
export const isList = ({ read }: Option, value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && read !== portRange && read !== networks;

/** A flag with its dashes: `--data-dir`, `-v`. */
export const dashed = (name: string): string => (name.length === 1 ? `-${name}` : `--${name}`);

/** The meaning of a setting, with the behaviour without it in parentheses. */
export function describeOption({ help, read, default: value, otherwise }: Option): string {
  const shown = value === undefined ? otherwise : read === duration ? formatDuration(value as number) : String(value);
  return shown ? `${help} (${shown})` : help;
}
