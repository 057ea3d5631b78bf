/** The responses of an operation: successes, and errors by code. */
import { exampleOf, type ExampleOptions } from './example.ts'
import { isObject, objectOf, textOf, type References } from './document.ts'
import type { PropertyView, SchemaReader, SchemaView } from './schema.ts'

export interface Content {
  type: string
  schema: SchemaView | undefined
  example: { value: unknown; isMade: boolean }
}

export interface ResponseView {
  status: string
  description: string | undefined
  headers: readonly PropertyView[]
  content: readonly Content[]
}

export interface ErrorLine {
  status: string
  code: string | undefined
  text: string
  /** The named schema of its body. */
  link: SchemaView['link']
}

export interface Responses {
  responses: readonly ResponseView[]
  errors: readonly ErrorLine[]
}

export function describeResponses(
  declared: unknown,
  schemas: SchemaReader,
  references: References,
): Responses {
  const responses: ResponseView[] = []
  const errors: ErrorLine[] = []
  const sorted = Object.entries(objectOf(declared)).toSorted(([a], [b]) => order(a) - order(b))
  for (const [status, found] of sorted) {
    const { target, siblings } = references.resolve(found)
    const response = { ...objectOf(target), ...siblings }
    const description = textOf(response['description'])
    const lines = isError(status) ? errorLines(status, description) : undefined
    if (lines) {
      const schema = objectOf(Object.values(objectOf(response['content']))[0])['schema']
      const link = schema === undefined ? undefined : schemas.outline(schema).link
      // An error with its own body is shown like any other response.
      if (schema === undefined || link !== undefined) {
        errors.push(...lines.map((line) => ({ ...line, link })))
        continue
      }
    }
    responses.push({
      status,
      description,
      headers: headersOf(response['headers'], schemas, references),
      content: contentOf(response['content'], schemas, references, 'response'),
    })
  }
  return { responses, errors }
}

export function contentOf(
  content: unknown,
  schemas: SchemaReader,
  references: References,
  direction: ExampleOptions['direction'],
): Content[] {
  return Object.entries(objectOf(content)).map(([type, found]) => {
    const media = objectOf(found)
    const [named] = Object.values(objectOf(media['examples']))
    const given = media['example'] ?? objectOf(references.resolve(named).target)['value']
    const schema = media['schema']
    return {
      type,
      schema: schema === undefined ? undefined : schemas.unfold(schema),
      example: {
        value: given ?? exampleOf(schema, references, { direction }),
        isMade: given === undefined,
      },
    }
  })
}

function headersOf(
  headers: unknown,
  schemas: SchemaReader,
  references: References,
): PropertyView[] {
  return Object.entries(objectOf(headers)).map(([name, found]) => {
    const header = objectOf(references.resolve(found).target)
    const schema = schemas.unfold(header['schema'])
    return {
      name,
      isPattern: false,
      required: header['required'] === true,
      schema: { ...schema, description: textOf(header['description']) ?? schema.description },
    }
  })
}

function isError(status: string): boolean {
  return /^[45]/.test(status) || status === 'default'
}

/** Sorts `4XX` after its numbers and `default` last. */
function order(status: string): number {
  if (/^\d{3}$/.test(status)) return Number(status)
  return /^\dXX$/i.test(status) ? Number(status[0]) * 100 + 99.5 : 1000
}

/** Splits descriptions with one paragraph per code into one line per code. */
function errorLines(status: string, description: string | undefined) {
  const paragraphs = (description ?? '').split(/\n\s*\n/).map((text) => text.trim())
  return paragraphs.map((paragraph) => {
    const [, code, text] = /^`([^`\s]+)`:\s*([\s\S]+)$/.exec(paragraph) ?? []
    return { status, code, text: text ?? paragraph }
  })
}

export function exampleText({ type, example }: Content): string | undefined {
  if (/[/+]json\b/.test(type)) return JSON.stringify(example.value, null, 2)
  if (typeof example.value === 'string' && !example.isMade) return example.value
  return isObject(example.value) && !example.isMade
    ? JSON.stringify(example.value, null, 2)
    : undefined
}
