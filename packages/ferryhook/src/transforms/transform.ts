/** What is done to a body on its way to a connection, as its owner writes it. */
import { z } from '@hono/zod-openapi'
import { checked } from '../filters/condition.ts'
import { isDeeperThan } from '../filters/json.ts'
import { InvalidPath, longestPath, parsePath } from '../filters/path.ts'
import { parseTarget } from './target.ts'

/** What a connection can store, in characters of JSON. */
const longestTransform = 65_536
const longestCode = 50_000
const mostRules = 100
const deepestValue = 16

const pathText = z.string().max(longestPath)
const From = pathText.superRefine(checked(parsePath, InvalidPath))
const To = pathText.superRefine(checked(parseTarget, InvalidPath))
const Removed = pathText.superRefine(checked(parseRemoved, InvalidPath))
const Renamed = pathText.superRefine(checked(parseRenamed, InvalidPath))
const Constant = z
  .unknown()
  .refine((value) => value !== undefined, { message: 'Is required', abort: true })
  .refine((value) => !isDeeperThan(value, deepestValue), {
    message: 'Is nested too deeply',
    abort: true,
  })

/** The engine would read it only up to there. */
const Code = z
  .string()
  .min(1)
  .max(longestCode)
  .refine((code) => !code.includes('\0'), 'Has a null character in it')
  .openapi({
    description:
      'Has a function `transform(event)`, whose event has `body` (parsed if it is JSON), `headers`, ' +
      '`query`, `method`, `id` and `receivedAt`. It returns the new body, an object as JSON or a ' +
      'string as text, or `{ body, headers }`, or null to drop the event. It may be async.',
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
        'What the rules begin with: nothing, so that they name all there will be, or the body',
    }),
    rules: z.array(FieldRule).min(1).max(mostRules),
  })
  .superRefine(({ start, rules }, context) => {
    if (start === 'body') return
    for (const [index, rule] of rules.entries()) {
      if ('from' in rule || 'value' in rule) continue
      const message = 'Changes what there is, and there is nothing yet: set "start" to "body"'
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
    (transform) => JSON.stringify(transform).length <= longestTransform,
    `Is longer than ${longestTransform} characters`,
  )
export type Transform = z.infer<typeof Transform>

function parseRemoved(text: string) {
  const { within, steps } = parsePath(text)
  if (within !== 'body' || steps.length === 0) {
    throw new InvalidPath('Names a part of the body: begin with $. and a name')
  }
  return steps
}

function parseRenamed(text: string) {
  if (parseRemoved(text).some((step) => typeof step === 'symbol')) {
    throw new InvalidPath('Cannot be a wildcard: name one place')
  }
}
