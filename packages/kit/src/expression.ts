/**
 * DynamoDB's expression language as a typed template tag.
 *
 *     expr`SET ${attr('views')} = ${attr('views')} - ${1}`
 *
 * The text is DynamoDB's own, so that it reads like the specification it implements. The tag turns
 * names and values into placeholders, and the compiler checks both: `attr` of an entity knows the
 * names and types of the item, and a value must have the type of the attribute before it (write
 * `a > 5`, not `5 < a`).
 */
import type { Value } from './db.ts'

/** A path to an attribute that holds a T. */
export class Attr<T> {
  declare private readonly nominal: true
  declare readonly holds: T
  readonly path: readonly (string | number)[]

  constructor(path: readonly (string | number)[]) {
    this.path = path
  }
}

/** A whole expression or a part of one; as an operand its type is T. */
export class Expression<T = unknown> {
  declare private readonly nominal: true
  declare readonly holds: T
  readonly text: readonly string[]
  readonly parts: readonly Part[]

  constructor(text: readonly string[], parts: readonly Part[]) {
    this.text = text
    this.parts = parts
  }
}

type Part = Attr<unknown> | Expression | Value

/** The parts of a template; each value must have the type of the operand before it. */
type Checked<Parts, Before = never> = Parts extends readonly [infer Head, ...infer Rest]
  ? Head extends Attr<infer T> | Expression<infer T>
    ? [Head, ...Checked<Rest, unknown extends T ? Before : Exclude<T, undefined>>]
    : [Before, ...Checked<Rest, Before>]
  : []

export function expr<const Parts extends readonly Part[]>(
  text: TemplateStringsArray,
  ...parts: Parts & Checked<Parts>
): Expression {
  return new Expression(text, parts)
}

/** Conditions joined by AND, without those that are undefined. */
export function all(...conditions: (Expression | undefined)[]): Expression | undefined {
  const given = conditions.filter((condition) => condition !== undefined)
  if (given.length < 2) return given[0]
  return new Expression(['(', ...given.slice(1).map(() => ') AND ('), ')'], given)
}

/** `contains(path, element)`: whether a set or list has the element, or a string the part. */
export function contains<T>(attribute: Attr<T>, element: ElementOf<T>): Expression {
  return new Expression(['contains(', ', ', ')'], [attribute, element as Value])
}

/** `size(path)`: the length of a string or of bytes, or the number of elements of a map, list or set. */
export function sizeOf(attribute: Attr<unknown>): Expression<number> {
  return new Expression(['size(', ')'], [attribute])
}

type ElementOf<T> =
  Exclude<T, undefined> extends Set<infer E> | readonly (infer E)[] ? E : T & string

/** `path IN (…)`: whether the attribute is one of the values. */
export function oneOf<T>(attribute: Attr<T>, values: readonly Exclude<T, undefined>[]): Expression {
  // DynamoDB has no empty list, and a caller without values knows the result.
  if (values.length === 0) throw new RangeError('IN needs at least one value')
  const separators = values.slice(1).map(() => ', ')
  return new Expression(
    ['', ' IN (', ...separators, ')'],
    [attribute, ...(values as readonly Value[])],
  )
}

/** The names and values of one request, shared by all of its expressions. */
export class Placeholders {
  readonly #placeholders = new Map<string, string>()
  // Filled on the way instead of from the map at the end, because every request pays for it.
  readonly #names: Record<string, string> = {}
  readonly #values: Record<string, Value> = {}
  #valueCount = 0

  /** The text of an expression, with placeholders for names and values. */
  render(expression: Expression): string {
    let rendered = expression.text[0] ?? ''
    expression.parts.forEach((part, index) => {
      rendered += this.#render(part) + (expression.text[index + 1] ?? '')
    })
    return rendered
  }

  /** The names and values of the placeholders. DynamoDB rejects empty maps, so they are left out. */
  parameters(): {
    ExpressionAttributeNames?: Record<string, string>
    ExpressionAttributeValues?: Record<string, Value>
  } {
    return {
      ...(this.#placeholders.size > 0 && { ExpressionAttributeNames: this.#names }),
      ...(this.#valueCount > 0 && { ExpressionAttributeValues: this.#values }),
    }
  }

  #render(part: Part): string {
    if (part instanceof Attr) return this.#path(part.path)
    if (part instanceof Expression) return this.render(part)
    const placeholder = `:${this.#valueCount++}`
    this.#values[placeholder] = part
    return placeholder
  }

  #path(path: readonly (string | number)[]): string {
    let rendered = ''
    for (const step of path) {
      if (typeof step === 'number') rendered += `[${step}]`
      else rendered += rendered === '' ? this.#name(step) : `.${this.#name(step)}`
    }
    return rendered
  }

  #name(name: string): string {
    const known = this.#placeholders.get(name)
    if (known !== undefined) return known
    const placeholder = `#${this.#placeholders.size}`
    this.#placeholders.set(name, placeholder)
    this.#names[placeholder] = name
    return placeholder
  }
}
