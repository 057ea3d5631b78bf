/** The constraints of a schema in words. */
import { inline, type JsonObject, listOf } from './json.ts'

export interface Fact {
  text: string
  /** Shown as code after the text. */
  code?: string
}

export function schemaFacts(schema: JsonObject): Fact[] {
  return [
    ...range(schema, 'minLength', 'maxLength', 'character'),
    ...range(schema, 'minItems', 'maxItems', 'item'),
    ...range(schema, 'minProperties', 'maxProperties', 'property', 'properties'),
    ...numbers(schema),
    ...named(schema, 'pattern', 'matches'),
    ...named(schema, 'contentEncoding', 'encoded as'),
    ...named(schema, 'contentMediaType', 'holds'),
    ...flag(schema, 'uniqueItems', 'no item twice'),
    ...flag(schema, 'readOnly', 'only in answers'),
    ...flag(schema, 'writeOnly', 'only in requests'),
    ...('default' in schema ? [{ text: 'default', code: inline(schema['default']) }] : []),
    ...examples(schema),
  ]
}

function range(
  schema: JsonObject,
  least: string,
  most: string,
  one: string,
  many = `${one}s`,
): Fact[] {
  const min = numberAt(schema, least)
  const max = numberAt(schema, most)
  const unit = (count: number) => (count === 1 ? one : many)
  if (min !== undefined && max !== undefined)
    return [{ text: min === max ? `${max} ${unit(max)}` : `${min} to ${max} ${many}` }]
  if (min !== undefined && min > 0) return [{ text: `at least ${min} ${unit(min)}` }]
  return max === undefined ? [] : [{ text: `at most ${max} ${unit(max)}` }]
}

/** zod says "no larger than the largest safe integer" of every integer: no news to a reader. */
const isNews = (limit: number | undefined) =>
  limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER

function numbers(schema: JsonObject): Fact[] {
  const min = numberAt(schema, 'minimum')
  const max = numberAt(schema, 'maximum')
  const above = numberAt(schema, 'exclusiveMinimum')
  const below = numberAt(schema, 'exclusiveMaximum')
  const step = numberAt(schema, 'multipleOf')
  const facts: Fact[] = []
  if (isNews(min) && isNews(max)) facts.push({ text: `${min} to ${max}` })
  else if (isNews(min)) facts.push({ text: `at least ${min}` })
  else if (isNews(max)) facts.push({ text: `at most ${max}` })
  if (isNews(above)) facts.push({ text: `more than ${above}` })
  if (isNews(below)) facts.push({ text: `less than ${below}` })
  if (step !== undefined) facts.push({ text: `a multiple of ${step}` })
  return facts
}

function examples(schema: JsonObject): Fact[] {
  const given = 'example' in schema ? [schema['example']] : listOf(schema['examples']).slice(0, 3)
  return given.map((example) => ({ text: 'example', code: inline(example) }))
}

function named(schema: JsonObject, key: string, text: string): Fact[] {
  const value = schema[key]
  return typeof value === 'string' ? [{ text, code: value }] : []
}

function flag(schema: JsonObject, key: string, text: string): Fact[] {
  return schema[key] === true ? [{ text }] : []
}

function numberAt(schema: JsonObject, key: string): number | undefined {
  const value = schema[key]
  return typeof value === 'number' ? value : undefined
}
