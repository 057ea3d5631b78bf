/** Route descriptions of requests. */
import { createRoute, z } from '@hono/zod-openapi'
import { requestError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import {
  CreateResponse,
  FillRequest,
  NewRequestRequest,
  RequestTokenResponse,
  SecretId,
} from '../api.ts'
import { sealedError } from '../errors.ts'

const tags = ['Sealed']

export const createRequestRoute = createRoute({
  method: 'post',
  path: '/v1/requests',
  tags,
  summary: 'Create a request for a secret',
  description:
    'A request lets somebody else put in a secret that only the requester can open. Nothing is stored before it is filled: the token reserves the id. With an API token, filling it requires no proof of work, and counts in its hourly limit.',
  security: [{}, { sealedApiToken: [] }],
  request: { body: jsonBody(NewRequestRequest) },
  responses: {
    200: jsonResponse(RequestTokenResponse, 'The token for the sender, and the id of the secret'),
    ...errorResponses(sealedError, 'invalid_request', 'invalid_api_token'),
    ...errorResponses(requestError, 'rate_limited'),
  },
})

export const fillRequestRoute = createRoute({
  method: 'post',
  path: '/v1/requests/{id}',
  tags,
  summary: 'Fill a request',
  description:
    'Stores a secret that can be viewed once. The proof of work is that of `POST /v1/secrets` with `prefix.id` instead of `prefix`, where `prefix` is that of the work token and `id` that of the request. The secret must live at least 300 seconds longer than the request. A token that is invalid, expired, for another id or already used gets the same response as a secret that does not exist.',
  security: [{ sealedRequest: [] }],
  request: { params: z.object({ id: SecretId }), body: jsonBody(FillRequest) },
  responses: {
    201: jsonResponse(CreateResponse, 'The secret was stored'),
    ...errorResponses(sealedError, 'invalid_request', 'invalid_pow', 'not_available', 'full'),
    ...errorResponses(requestError, 'too_large', 'rate_limited'),
  },
})
