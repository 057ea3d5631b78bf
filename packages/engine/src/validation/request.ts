/**
 * Checks a request against its shape, in AWS's order: first that every member has the right JSON
 * type, then all constraints together, reported as "N validation errors detected".
 *
 * A valid request is walked once, without allocations. Attribute values are checked by
 * `operations/form.ts`.
 */
import { validationError } from '../errors.ts'
import { matches } from './names.ts'
import { render } from './render.ts'
import { checkTypes, type Face } from './request-types.ts'
import type { MapShape, Shape, StructureShape } from './shapes.ts'

/** AWS reports at most this many. */
const MAX_REPORTED_ERRORS = 10

export function checkRequest(shape: StructureShape, request: unknown, face: Face): void {
  if (fits(shape, request)) return
  checkTypes(shape, request, face)
  const errors: string[] = []
  collect(shape, request, '', errors)
  if (errors.length === 0) return
  const plural = errors.length === 1 ? '' : 's'
  throw validationError(`${errors.length} validation error${plural} detected: ${errors.join('; ')}`)
}

/** Whether a member is absent, on either face. */
const missing = (value: unknown): value is null | undefined => value === null || value === undefined

function fits(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case 'string':
      if (typeof value !== 'string') return false
      if (shape.enum) return shape.enum.includes(value)
      return (
        fitsLength(shape, value.length) &&
        (!shape.pattern || matches(shape.pattern, value, shape.arn))
      )
    case 'integer':
      return (
        Number.isInteger(value) &&
        (value as number) >= (shape.min ?? -Infinity) &&
        (value as number) <= (shape.max ?? Infinity)
      )
    case 'boolean':
      return typeof value === 'boolean'
    case 'attribute':
      return !missing(value)
    case 'attributes':
      return isObject(value)
    case 'list':
      return (
        Array.isArray(value) &&
        fitsLength(shape, value.length) &&
        value.every((member) => fits(shape.of, member))
      )
    case 'map':
      return isObject(value) && fitsMap(shape, value)
    case 'structure':
      return isObject(value) && fitsStructure(shape, value)
  }
}

function fitsStructure(shape: StructureShape, value: Record<string, unknown>): boolean {
  for (const name of shape.required) if (missing(value[name])) return false
  for (const name in value) {
    const member = shape.members.get(name)
    if (member === undefined) continue
    const given = value[name]
    if (!missing(given) && !fits(member, given)) return false
  }
  return true
}

function fitsMap(shape: MapShape, value: Record<string, unknown>): boolean {
  const names = Object.keys(value)
  return (
    fitsLength(shape, names.length) &&
    names.every(
      (name) =>
        fitsKey(shape, name) &&
        (!shape.values || fitsLength(shape.values, lengthOf(value[name]))) &&
        fits(shape.of, value[name]),
    )
  )
}

function fitsKey(shape: MapShape, name: string): boolean {
  const { keys } = shape
  return (
    !keys ||
    (fitsLength(keys, name.length) && (!keys.pattern || matches(keys.pattern, name, keys.arn)))
  )
}

function fitsLength({ min = 0, max = Infinity }: { min?: number; max?: number }, length: number) {
  return length >= min && length <= max
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function collect(shape: Shape, value: unknown, path: string, errors: string[]): void {
  const fail = (constraint: string) => {
    if (errors.length < MAX_REPORTED_ERRORS) {
      errors.push(
        `Value ${render(shape, value)} at '${path}' failed to satisfy constraint: ${constraint}`,
      )
    }
  }
  switch (shape.kind) {
    case 'string':
      if (shape.enum) {
        if (!shape.enum.includes(value as string)) {
          fail(`Member must satisfy enum value set: [${shape.enum.join(', ')}]`)
        }
        return
      }
      const isMatched = value !== '' || shape.matchesEmpty
      if (shape.pattern && isMatched && !matches(shape.pattern, value as string, shape.arn)) {
        fail(`Member must satisfy regular expression pattern: ${shape.pattern}`)
      }
      return collectLength(shape, (value as string).length, fail)
    case 'integer':
      return collectRange(shape, value as number, fail)
    case 'list': {
      const members = value as unknown[]
      collectLength(shape, members.length, fail)
      members.forEach((member, at) =>
        collectAt(shape.of, member, `${path}.${at + 1}.member`, errors),
      )
      return
    }
    case 'map':
      return collectMap(shape, value as Record<string, unknown>, path, errors, fail)
    case 'structure': {
      const prefix = path === '' ? '' : `${path}.`
      const members = value as Record<string, unknown>
      const isComplete = shape.required.every((name) => !missing(members[name]))
      const newerTextAt = (name: string) =>
        isComplete ? newerText(shape.members.get(name), members[name]) : undefined
      const alone = shape.first.map(newerTextAt).find((text) => text !== undefined)
      if (alone !== undefined) {
        errors.push(alone)
        return
      }
      for (const [name, member] of shape.members) {
        const given = members[name]
        const at = prefix + lowerFirst(name)
        const text = newerTextAt(name)
        if (text !== undefined) errors.push(text)
        else if (!missing(given)) collect(member, given, at, errors)
        else if (shape.required.includes(name) && errors.length < MAX_REPORTED_ERRORS) {
          errors.push(`Value null at '${at}' failed to satisfy constraint: Member must not be null`)
        }
      }
    }
  }
}

function newerText(shape: Shape | undefined, value: unknown): string | undefined {
  if (shape?.kind !== 'string' || missing(value)) return undefined
  const isWrong = shape.enum ? !shape.enum.includes(value as string) : value === ''
  return isWrong ? shape.newerText : undefined
}

function collectAt(shape: Shape, value: unknown, path: string, errors: string[]): void {
  if (!missing(value)) collect(shape, value, path, errors)
  else if (shape.kind !== 'attribute' && errors.length < MAX_REPORTED_ERRORS) {
    errors.push(`Value null at '${path}' failed to satisfy constraint: Member must not be null`)
  }
}

function collectMap(
  shape: MapShape,
  value: Record<string, unknown>,
  path: string,
  errors: string[],
  fail: (constraint: string) => void,
): void {
  const names = Object.keys(value)
  collectLength(shape, names.length, fail)
  const { keys, values } = shape
  if (keys && !names.every((name) => fitsKey(shape, name))) {
    fail(
      `Map keys must satisfy constraint: [Member must have length less than or equal to ${keys.max}, Member must have length greater than or equal to ${keys.min}, Member must satisfy regular expression pattern: ${keys.pattern}]`,
    )
  }
  if (values && !names.every((name) => fitsLength(values, lengthOf(value[name])))) {
    fail(
      `Map value must satisfy constraint: [Member must have length less than or equal to ${values.max}, Member must have length greater than or equal to ${values.min}]`,
    )
  }
  for (const name of names) collectAt(shape.of, value[name], `${path}.${name}.member`, errors)
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

function collectLength(
  { min, max }: { min?: number; max?: number },
  length: number,
  fail: (constraint: string) => void,
): void {
  if (min !== undefined && length < min) {
    fail(`Member must have length greater than or equal to ${min}`)
  }
  if (max !== undefined && length > max)
    fail(`Member must have length less than or equal to ${max}`)
}

function collectRange(
  { min, max }: { min?: number; max?: number },
  value: number,
  fail: (constraint: string) => void,
): void {
  if (min !== undefined && value < min) {
    fail(`Member must have value greater than or equal to ${min}`)
  }
  if (max !== undefined && value > max) fail(`Member must have value less than or equal to ${max}`)
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}
