/** Finds out which fields of variables an expression reads. */
import { children, type Expr } from './ast.js';

/** The operator of `variable.?field`. */
const OPTIONAL_SELECT = '_?._';

const isVariable = (expr: Expr | undefined, name: string): boolean => expr?.is === 'ident' && expr.name === name;

function isRead(expr: Expr, variable: string, field: string): boolean {
  if (expr.is === 'select') return expr.field === field && isVariable(expr.operand, variable);
  if (expr.is !== 'call' || expr.fn !== OPTIONAL_SELECT) return false;
  const [operand, name] = expr.args;
  return isVariable(operand, variable) && name?.is === 'const' && name.value === field;
}

/** Whether an expression contains `variable.field`, `variable.?field` or `has(variable.field)`. */
export const readsField = (expr: Expr, variable: string, field: string): boolean =>
  isRead(expr, variable, field) || children(expr).some(child => readsField(child, variable, field));
