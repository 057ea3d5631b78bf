/**
 * Prints a value that failed a constraint as AWS does, with Java's toString of the request classes.
 *
 * Attribute values are printed as `AttributeValue(…)` without their contents, and long texts and lists
 * are truncated, because a request may contain megabytes.
 */
import type { Shape } from './shapes.ts'

const MAX_TEXT_LENGTH = 2048

export function render(shape: Shape, value: unknown): string {
  return `'${javaText(shape, value)}'`
}

function javaText(shape: Shape, value: unknown): string {
  if (value === null || value === undefined) return 'null'
  switch (shape.kind) {
    case 'list':
      return `[${bounded(value as unknown[], (member) => javaText(shape.of, member))}]`
    case 'map':
      return `{${bounded(Object.entries(value), ([name, member]) => `${name}=${javaText(shape.of, member)}`)}}`
    case 'structure': {
      const members = bounded([...shape.members], ([name, member]) => {
        const given = (value as Record<string, unknown>)[name]
        return `${name.charAt(0).toLowerCase()}${name.slice(1)}=${javaText(member, given)}`
      })
      return `${shape.name}(${members})`
    }
    case 'attribute':
      return 'AttributeValue(…)'
    case 'attributes':
      return `{${bounded(Object.keys(value), (name) => `${name}=AttributeValue(…)`)}}`
    default: {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text
    }
  }
}

/** Joins the members with commas, up to the limit. */
function bounded<T>(members: readonly T[], text: (member: T) => string): string {
  const shown: string[] = []
  let length = 0
  for (const member of members) {
    if (length > MAX_TEXT_LENGTH) {
      shown.push('…')
      break
    }
    const next = text(member)
    length += next.length + 2
    shown.push(next)
  }
  return shown.join(', ')
}
