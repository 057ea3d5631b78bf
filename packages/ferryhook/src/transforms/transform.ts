/** The transform of a connection: how its owner changes bodies before delivery. */
import { z } from '@hono/zod-openapi'
import { refineWithParser } from '../filters/condition.ts'
import { isDeeperThan, MAX_VALUE_DEPTH } from '../filters/json.ts'
import { FilterSyntaxError, MAX_PATH_LENGTH, parsePath } from '../filters/path.ts'

/** What fits into a connection, in characters of JSON. */
const MAX_TRANSFORM_LENGTH = 65_536
const MAX_CODE_LENGTH = 50_000
const MAX_RULES = 100

const pathText = z.string().max(MAX_PATH_LENGTH)
const From = pathText.superRefine(refineWithParser(parsePath))
const To = pathText.superRefine(refineWithParser(parseTarget))
const Removed = pathText.superRefine(refineWithParser(parseRemoved))
const Renamed = pathText.superRefine(refineWithParser(parseRenamed))
const Constant = z
  .unknown()
  .refine((value) => value !== undefined, { message: 'Is required', abort: true })
  .refine((value) => !isDeeperThan(value, MAX_VALUE_DEPTH), {
    message: `Is nested too deeply: use at most ${MAX_VALUE_DEPTH} levels`,
    abort: true,
  })

/** The engine reads code only up to the first null character. */
const Code = z
  .string()
  .min(1)
  .max(MAX_CODE_LENGTH)
  .refine((code) => !code.includes('\0'), 'Contains a null character')
  .openapi({
    description:
      'Defines `transform(event)`, whose event has `body` (parsed if it is JSON), `headers`, ' +
      '`query`, `method`, `id` and `receivedAt`. It returns the new body (an object is sent as ' +
      'JSON, a string as text), or `{ body, headers }`, or null to drop the event. It may be async.',
    example: 'function transform({ body }) { return { text: body.message } }',
  })

const FieldRule = z.union([
  z.strictObject({ from: From, to: To }),
  z.strictObject({ to: To, value: Constant }),
  z.strictObject({ rename: Renamed, to: To }),
  z.strictObject({ remove: Removed }),
])
export type FieldRule = z.infer<typeof FieldRule>

const FieldMap = z
  .strictObject({
    type: z.literal('field_map'),
    start: z.enum(['empty', 'body']).optional().openapi({
      description:
        'What the rules start from: `empty`, so that only mapped fields are sent, or `body`',
    }),
    rules: z.array(FieldRule).min(1).max(MAX_RULES),
  })
  .superRefine(({ start, rules }, context) => {
    if (start === 'body') return
    for (const [index, rule] of rules.entries()) {
      if ('from' in rule || 'value' in rule) continue
      const message = 'Needs an existing body. Set "start" to "body".'
      context.addIssue({ code: 'custom', path: ['rules', index], message })
    }
  })
export type FieldMap = z.infer<typeof FieldMap>

export const Transform = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('passthrough') }),
    FieldMap,
    z.strictObject({ type: z.literal('javascript'), code: Code }),
  ])
  .refine(
    (transform) => JSON.stringify(transform).length <= MAX_TRANSFORM_LENGTH,
    `Must be at most ${MAX_TRANSFORM_LENGTH} characters of JSON`,
  )
export type Transform = z.infer<typeof Transform>

function parseRemoved(text: string) {
  const { within, steps } = parsePath(text)
  if (within !== 'body' || steps.length === 0) {
    throw new FilterSyntaxError('Must name a part of the body: start with $. and a name')
  }
  return steps
}

function parseRenamed(text: string) {
  if (parseRemoved(text).some((step) => typeof step === 'symbol')) {
    throw new FilterSyntaxError('Must not contain a wildcard: name one place')
  }
}

/** Where a rule writes: `a`, `a.b`, `a.items[0].id`, `['odd.key']`, or `$` for the whole body. */
export type Target = readonly (string | number)[]

/** A missing element before the index is filled with null. */
const MAX_INDEX = 99

export function parseTarget(text: string): Target {
  const { within, steps } = parsePath(withRoot(text))
  const target = steps.filter((step) => typeof step !== 'symbol')
  if (within !== 'body')
    throw new FilterSyntaxError('Must be a place in the body: start with $. or a name')
  if (target.length < steps.length)
    throw new FilterSyntaxError('Must not contain a wildcard: name one place')
  if (target.some((step) => typeof step === 'number' && (step < 0 || step > MAX_INDEX))) {
    throw new FilterSyntaxError(`Must have indexes from 0 to ${MAX_INDEX}`)
  }
  return target
}

function withRoot(text: string): string {
  if (text.startsWith('$')) return text
  return text.startsWith('[') ? `$${text}` : `$.${text}`
}
