import type { Struct } from '../model.js';
import { CORE_TYPES } from './coreTypes.js';
import { ENUMS } from './enums.js';
import { PLATFORM_TYPES } from './platformTypes.js';
import { TypeTable } from './typeTable.js';
import { WHY_TYPES } from './whyTypes.js';
import { WORKLOADS_TYPES } from './workloadsTypes.js';

const TYPES = new TypeTable({ ...CORE_TYPES, ...WORKLOADS_TYPES, ...PLATFORM_TYPES, ...WHY_TYPES }, ENUMS);

/** The struct of a built-in type by id (`core.v1.Pod`), undefined if there is none. One id always gives one object. */
export const findType = (id: string): Struct | undefined => TYPES.find(id);

/** Like `findType`, for ids in the program itself, which must exist. */
export function typeOf(id: string): Struct {
  const found = findType(id);
  if (!found) throw new Error(`the table has no type ${id}`);
  return found;
}

/** Ids of all types of a package, in table order. */
export const typesOfPackage = (name: string): readonly string[] => TYPES.idsOf(name);
