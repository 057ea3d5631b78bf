/** The request and response schemas of the key store's routes. */
import { z } from '@hono/zod-openapi'

export const BranchKeyId = z.string().openapi({ example: 'ferryhook:user-42' })

/** Not `z.record`, which silently drops a pair named `__proto__` instead of refusing it. */
const EncryptionContext = z
  .custom<Record<string, string>>(isContext, 'Must be an object of strings')
  .openapi({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { service: 'ferryhook', tenant: 'user-42' },
  })

function isContext(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each === 'string')
}

export const NewKey = z
  .strictObject({
    id: BranchKeyId.refine(
      (id) => id !== '.' && id !== '..',
      'Cannot be "." or "..": no address can name it',
    ).optional(),
    encryptionContext: EncryptionContext.optional(),
  })
  .openapi('NewBranchKey', {
    description: 'Without an id the key gets a UUID. An id of your own needs encryption context.',
  })

const Version = z.string().openapi({ example: '6024b9a5-f9cd-44ec-9ba3-ebfba597d31b' })

const stored = {
  createTime: z.string().openapi({
    description: 'As it is stored; libraries write it in several forms',
    example: '2026-11-15T18:15:17.223123Z',
  }),
  ageSeconds: z
    .number()
    .int()
    .nullable()
    .openapi({ description: 'Null if the creation time cannot be read' }),
  kmsArn: z.string().openapi({
    example: 'arn:local:kms:local:000000000000:key/18f8cb71-c933-489a-8798-a6912eadcfa7',
  }),
}

const BranchKey = z
  .object({
    id: BranchKeyId,
    activeVersion: Version,
    ...stored,
    encryptionContext: EncryptionContext,
  })
  .openapi('BranchKey', { description: 'The active version of a branch key, without the key' })

const VersionView = z.object({ version: Version, active: z.boolean(), ...stored })

export const ListedBranchKey = BranchKey.extend({
  versions: z.array(VersionView).optional().openapi({
    description: 'The active one first; only with `versions=true`',
  }),
}).openapi('ListedBranchKey')

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const

/** `365d` as seconds. */
export const Age = z
  .string()
  .regex(/^\d{1,7}[smhdw]$/, 'Must be a number and one of s, m, h, d, w, such as 365d')
  .transform((text) => {
    const unit = text.at(-1) as keyof typeof UNIT_SECONDS
    return Number(text.slice(0, -1)) * UNIT_SECONDS[unit]
  })

export const UnreadableKey = z.object({ id: BranchKeyId, problem: z.string() })

export const BranchKeyDetails = z
  .object({
    id: BranchKeyId,
    active: BranchKey.nullable().openapi({
      description: 'Null if the active item is missing or cannot be read',
    }),
    versions: z.array(VersionView),
    beacon: z.object(stored).nullable(),
    unreadable: z.array(z.object({ type: z.string(), problem: z.string() })).openapi({
      description: 'Items of this key that cannot be read, by their sort key',
    }),
    foreignItems: z
      .number()
      .int()
      .openapi({ description: 'How many items under this id have sort keys of others' }),
  })
  .openapi('BranchKeyDetails')
