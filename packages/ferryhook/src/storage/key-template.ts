/**
 * Key strings as the specification writes them (`SRC#{sourceId}`). Keys are built from a template,
 * stored keys are validated against it, and the documentation prints it.
 */
import * as z from 'zod'

type Names<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never

export interface KeyTemplate<Templates extends Record<string, string>> {
  templates: Templates
  /** For an item's schema. */
  fields: { [Attribute in keyof Templates]: z.ZodString }
  of(values: Readonly<Record<Names<Templates[keyof Templates]>, string | number>>): {
    [Attribute in keyof Templates]: string
  }
}

export function keyTemplate<const Templates extends Record<string, string>>(
  templates: Templates,
): KeyTemplate<Templates> {
  const attributes = Object.entries(templates).map(([attribute, template]) => ({
    attribute,
    // Alternating text and names, starting with text.
    pieces: template.split(/[{}]/),
  }))
  const fields = attributes.map(({ attribute, pieces }) => [attribute, pattern(pieces)])
  return {
    templates,
    fields: Object.fromEntries(fields) as KeyTemplate<Templates>['fields'],
    of(values) {
      const filled: Record<string, string> = {}
      for (const { attribute, pieces } of attributes) filled[attribute] = fill(pieces, values)
      return filled as ReturnType<KeyTemplate<Templates>['of']>
    },
  }
}

function fill(pieces: string[], values: Readonly<Record<string, string | number>>): string {
  let filled = ''
  for (const [index, piece] of pieces.entries()) {
    filled += index % 2 === 0 ? piece : String(values[piece])
  }
  return filled
}

function pattern(pieces: string[]): z.ZodString {
  const source = pieces
    .map((piece, index) => (index % 2 === 0 ? piece.replace(/[$.*+?^()[\]|\\]/g, '\\$&') : '.+'))
    .join('')
  return z.string().regex(new RegExp(`^${source}$`, 's'))
}
