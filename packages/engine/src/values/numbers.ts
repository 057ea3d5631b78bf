import type { NumberValue } from './types.ts'

export function parseNumber(_text: string): number | NumberValue {
  throw new Error('not yet')
}
export function addNumbers(
  _a: number | NumberValue,
  _b: number | NumberValue,
): number | NumberValue {
  throw new Error('not yet')
}
export function subtractNumbers(
  _a: number | NumberValue,
  _b: number | NumberValue,
): number | NumberValue {
  throw new Error('not yet')
}
export function compareNumbers(_a: number | NumberValue, _b: number | NumberValue): number {
  throw new Error('not yet')
}
export function numberText(_n: number | NumberValue): string {
  throw new Error('not yet')
}
export function orderedNumberBytes(_n: number | NumberValue): Uint8Array {
  throw new Error('not yet')
}
