import { flag, type Reader, text } from './values.js';

/** One setting, for flags, configuration file, help and reference page. `T` is the type of its values. */
export interface Setting<T, Flag extends string = string> {
  /** Name of the flag, without dashes. In the configuration file it is written in camelCase. */
  readonly flag: Flag;
  /** Parses the text of the flag, or the YAML of the file. Lists of a flag that is given several times are joined. */
  readonly read: Reader<T>;
  /** The placeholder for the value in the help. */
  readonly placeholder: string;
  readonly help: string;
  /** Describes in the help the behaviour without the setting, if there is no default. */
  readonly otherwise?: string;
}

/** A setting that a server always has. */
export interface DefaultedSetting<T, Flag extends string = string> extends Setting<T, Flag> {
  readonly default: T;
}

/** A setting that always has a value. */
export const defaulted = <T, Flag extends string>(
  flag: Flag,
  placeholder: string,
  read: Reader<T>,
  value: NoInfer<T>,
  help: string,
): DefaultedSetting<T, Flag> => ({ flag, placeholder, read, default: value, help });

/** A setting that may be absent. */
export const optional = <T, Flag extends string>(
  flag: Flag,
  placeholder: string,
  read: Reader<T>,
  help: string,
  otherwise?: string,
): Setting<T, Flag> => ({ flag, placeholder, read, help, ...(otherwise !== undefined && { otherwise }) });

/** Something that is off by default. */
export const switchedOff = <Flag extends string>(flagName: Flag, help: string) =>
  defaulted(flagName, 'BOOL', flag, false, help);
/** Something that is on by default. */
export const switchedOn = <Flag extends string>(flagName: Flag, help: string) =>
  defaulted(flagName, 'BOOL', flag, true, help);
/** The path of a file. */
export const file = <Flag extends string>(flagName: Flag, help: string, otherwise?: string) =>
  optional(flagName, 'FILE', text, help, otherwise);
