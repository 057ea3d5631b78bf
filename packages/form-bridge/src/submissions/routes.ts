/** The route for form submissions. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import { formBridgeError } from '../errors.ts'
import { type Permissions, signedRequestErrors } from '../permissions.ts'
import { MAX_FILES_BYTES, SubmissionFiles } from './files.ts'
import { MAX_FIELDS_BYTES, type SubmissionService } from './service.ts'

/** Everything but files may have {@link MAX_FIELDS_BYTES}; files have a third more in base64. */
const MAX_BODY_BYTES = MAX_FIELDS_BYTES + MAX_FILES_BYTES * 1.5

const SubmissionBody = z
  .strictObject({
    submission_id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,64}$/)
      .openapi({ example: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }),
    form_id: z.string().min(1).max(200).openapi({ example: 'contact' }),
    form_name: z.string().max(500).optional(),
    page_url: z.string().max(2000).optional(),
    submitted_at: z.iso.datetime(),
    fields: z.record(z.string(), z.unknown()).openapi({ example: { message: 'Hello' } }),
    files: SubmissionFiles.optional(),
  })
  .openapi('FormBridgeSubmission')

export function submissionRoutes(deps: {
  permit: Permissions
  submissionService: SubmissionService
}): OpenAPIHono<AppEnv> {
  const { permit, submissionService } = deps

  const submit = createRoute({
    ...withMiddleware(
      permit.site({ scope: 'webhook', signature: true }),
      bodyLimit(MAX_BODY_BYTES),
    ),
    method: 'post',
    path: '/v1/webhook',
    summary: 'Deliver a form submission',
    request: { body: jsonBody(SubmissionBody) },
    responses: {
      200: jsonResponse(
        z.object({ submission_id: z.string(), status: z.literal('delivered') }),
        'The destination has accepted the submission',
      ),
      ...signedRequestErrors,
      ...errorResponses(
        formBridgeError,
        'confirmation_needed',
        'no_destination',
        'destination_refused',
        'destination_unreachable',
      ),
    },
  })

  return new OpenAPIHono<AppEnv>().openapi(submit, async (c) => {
    const submission = c.req.valid('json')
    await submissionService.deliver(c.get('auth').site, submission)
    const { submission_id } = submission
    return c.json({ submission_id, status: 'delivered' as const }, 200)
  })
}
