export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object at a name, or an empty one. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = own(object, name)
  return isObject(value) ? value : {}
}

/** Only what the payload itself has: never what objects inherit. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
