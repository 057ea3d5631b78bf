/** Paths to one value of a JSON document: `$.data.items[0].id`. */
import { attributeOf } from './signed-request.ts'

const PATH = /^(?:\$\.)?[^.[\]]+(?:\.[^.[\]]+|\[\d{1,6}\])*$/

export function isJsonPath(path: string): boolean {
  return path.length <= 256 && path !== '$' && PATH.test(path)
}

/** Undefined where the path leads nowhere. */
export function valueAt(document: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>(attributeOf, document)
}

function stepsOf(path: string): string[] {
  return path.replace(/^\$/, '').match(/[^.[\]]+/g) ?? []
}
