/** The uploaded files of a submission, in base64. */
import { z } from '@hono/zod-openapi'

export const MAX_FILES_BYTES = 3 * 1024 * 1024
const MAX_FILES = 10
/** With those whose contents the site left out. */
const MAX_FILE_ENTRIES = 20
/** The length of {@link MAX_FILES_BYTES} in base64. */
const MAX_CONTENT_CHARACTERS = Math.ceil(MAX_FILES_BYTES / 3) * 4

const REASONS = ['too_large', 'too_many', 'unreadable', 'not_stored', 'destination_limit'] as const

const SubmissionFile = z
  .strictObject({
    field: z.string().max(500).openapi({ description: 'The name of its field' }),
    name: z
      .string()
      .min(1)
      .max(255)
      // A destination that saves the file under its name must not leave its directory.
      .regex(/^[^/\\\p{Cc}]+$/u, 'Must not contain slashes or control characters'),
    type: z.string().max(200).openapi({ example: 'application/pdf' }),
    size: z.int().min(0),
    content: z.string().max(MAX_CONTENT_CHARACTERS).optional().openapi({ format: 'byte' }),
    omitted: z.enum(REASONS).optional().openapi({ description: 'Why the content is missing' }),
  })
  .superRefine(({ size, content, omitted }, context) => {
    const invalid = (message: string) => {
      context.addIssue({ code: 'custom', path: ['content'], message })
    }
    if ((content === undefined) === (omitted === undefined)) {
      invalid('Either content or omitted is required')
    } else if (content !== undefined && !isBase64(content, size)) {
      invalid('Must be size bytes in base64')
    }
  })

export const SubmissionFiles = z
  .array(SubmissionFile)
  .max(MAX_FILE_ENTRIES)
  .superRefine((files, context) => {
    const sent = files.filter(({ content }) => content !== undefined)
    const bytes = sent.reduce((sum, { size }) => sum + size, 0)
    if (sent.length > MAX_FILES) {
      context.addIssue({ code: 'custom', message: `Must not have more than ${MAX_FILES} contents` })
    } else if (bytes > MAX_FILES_BYTES) {
      const message = `Must not have more than ${MAX_FILES_BYTES} bytes together`
      context.addIssue({ code: 'custom', message })
    }
  })
export type SubmissionFiles = z.infer<typeof SubmissionFiles>

/** Without one pattern for the whole text, whose matching would need a stack for megabytes. */
function isBase64(text: string, bytes: number): boolean {
  return (
    text.length % 4 === 0 &&
    Buffer.byteLength(text, 'base64') === bytes &&
    !/[^A-Za-z0-9+/=]|=[^=]/.test(text)
  )
}
