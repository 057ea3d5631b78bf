/** The limits of KMS's parameters. Requests come from other programs, so types are checked as well. */
import type { EncryptionContext } from './blob.ts'
import { unsupported, validationError } from './errors.ts'

const MAX_GRANT_TOKENS = 10
const LONE_SURROGATE = /\p{Surrogate}/u

/** A request before its members are validated. */
export type Unchecked<Input> = Readonly<Partial<Record<keyof Input, unknown>>>

export function parseText(value: unknown, name: string, least: number, most: number): string {
  if (typeof value !== 'string' || value.length < least || value.length > most) {
    throw validationError(`${name} must be a string of ${least} to ${most} characters`)
  }
  return value
}

export function parseKeyId(value: unknown, name = 'KeyId'): string {
  return parseText(value, name, 1, 2048)
}

export function parseInteger(value: unknown, name: string, least: number, most: number): number {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    throw validationError(`${name} must be a whole number from ${least} to ${most}`)
  }
  return value as number
}

/** A copy, because callers may wipe their bytes before the call ends. */
export function parseBytes(value: unknown, name: string, most: number): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length < 1 || value.length > most) {
    throw validationError(`${name} must be 1 to ${most} bytes`)
  }
  return Uint8Array.from(value)
}

/** A copy, so that later changes by the caller have no effect here. */
export function parseContext(value: unknown, name = 'EncryptionContext'): EncryptionContext {
  if (value === undefined) return {}
  const wellFormed = (text: unknown) => typeof text === 'string' && !LONE_SURROGATE.test(text)
  if (!isRecord(value) || !Object.entries(value).flat().every(wellFormed)) {
    throw validationError(`${name} must be a map of strings of well-formed Unicode`)
  }
  // Clients that assign it to an object lose the pair, so they would authenticate something else.
  if (Object.hasOwn(value, '__proto__')) {
    throw validationError(`${name} must not have the name __proto__`)
  }
  return { ...(value as Record<string, string>) }
}

export function checkGrantTokens(value: unknown): void {
  if (value === undefined) return
  if (!Array.isArray(value) || value.length > MAX_GRANT_TOKENS) {
    throw validationError(`GrantTokens must be a list of at most ${MAX_GRANT_TOKENS}`)
  }
  for (const token of value) parseText(token, 'A grant token', 1, 8192)
}

/** Unsupported parameters of AWS are rejected, because ignoring them would be misleading. */
export function rejectUnsupported(
  input: Readonly<Record<string, unknown>>,
  members: Readonly<Record<string, readonly unknown[]>>,
): void {
  for (const [name, harmless] of Object.entries(members)) {
    const value = input[name]
    if (value !== undefined && !harmless.includes(value)) {
      throw unsupported(`This KMS does not support the given ${name}: leave it out`)
    }
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
