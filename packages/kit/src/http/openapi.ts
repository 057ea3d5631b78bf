/** Short declarations for routes, and the OpenAPI document of all of them. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { ErrorFactory, ErrorTable } from '../errors.ts'
import type { AppEnv } from './env.ts'

/** The body of every error. */
export const ErrorBody = z
  .object({
    error: z.object({
      code: z.string().openapi({ example: 'request.invalid' }),
      message: z.string(),
      details: z
        .array(
          z.object({ path: z.string().openapi({ example: 'body.name' }), message: z.string() }),
        )
        .optional(),
      data: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .openapi('Error', { description: 'Why a request was refused' })

interface ErrorResponse {
  description: string
  content: { 'application/json': { schema: typeof ErrorBody } }
}

/** The responses for errors of a catalogue: `responses: { 200: …, ...errorResponses(sealedError, 'gone') }`. */
export function errorResponses<T extends ErrorTable, const C extends keyof T & string>(
  factory: ErrorFactory<T>,
  ...codes: readonly C[]
): { [S in T[C][0]]: ErrorResponse } {
  const responses: Partial<Record<number, ErrorResponse>> = {}
  for (const name of codes) {
    const { code, status, message } = factory.entry(name)
    const line = `\`${code}\`: ${message}`
    const before = responses[status]
    responses[status] = {
      description: before ? `${before.description}\n\n${line}` : line,
      content: { 'application/json': { schema: ErrorBody } },
    }
  }
  return responses as { [S in T[C][0]]: ErrorResponse }
}

/**
 * A JSON body. Always required: zod-openapi gives the handler `{}` for an optional body that was not
 * sent, without the schema.
 */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { content: { 'application/json': { schema } }, required: true } as const
}

export function jsonResponse<T extends z.ZodType>(schema: T, description: string) {
  return { content: { 'application/json': { schema } }, description }
}

/** A page of a list: `{ items, cursor }`, with a cursor of null on the last page. */
export function pageOf<T extends z.ZodType>(items: T) {
  return z.object({ items: z.array(items), cursor: z.string().nullable() })
}

export interface ApiInfo {
  title: string
  version: string
  description?: string
  /** Where the server is reached. */
  publicUrl?: string
}

/** The OpenAPI 3.1 document of an app and everything mounted in it; always the same for the same app. */
export function openApiDocument(app: OpenAPIHono<AppEnv>, { publicUrl, ...info }: ApiInfo) {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info,
    ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
  })
  const paths = Object.entries(document.paths ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [, path] of paths) {
    for (const method of ['get', 'put', 'post', 'delete', 'patch'] as const) {
      const operation = path[method]
      // Any request can fail in the HTTP layer, so no route has to list those errors.
      if (operation) operation.responses = { ...operation.responses, default: anyError }
    }
  }
  return { ...document, paths: Object.fromEntries(paths) }
}

const anyError = {
  description: 'Any other error',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}
