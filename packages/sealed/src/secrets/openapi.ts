/** Route descriptions of the API. */
import { createRoute, z } from '@hono/zod-openapi'
import { requestError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import {
  AckRequest,
  BurnTokenHeader,
  CreateResponse,
  TokenResponse,
  NewSecretRequest,
  ReceiptResponse,
  RevealResponse,
  RevealRequest,
  SecretId,
} from '../api.ts'
import { sealedError } from '../errors.ts'

const tags = ['Sealed']
const params = z.object({ id: SecretId })
const headers = z.object({ 'X-Burn-Token': BurnTokenHeader })
const tooMany = errorResponses(requestError, 'rate_limited')

export const tokenRoute = createRoute({
  method: 'post',
  path: '/v1/token',
  tags,
  summary: 'Create a token',
  description:
    'A token is valid for one secret and five minutes, and requires a proof of work. With an API token it requires none, and counts in its hourly limit.',
  security: [{}, { sealedApiToken: [] }],
  responses: {
    200: jsonResponse(
      TokenResponse,
      'The token, the id of the new secret and the proof-of-work challenge',
    ),
    ...errorResponses(sealedError, 'invalid_api_token'),
    ...tooMany,
  },
})

export const createSecretRoute = createRoute({
  method: 'post',
  path: '/v1/secrets',
  tags,
  summary: 'Create a secret',
  description:
    'The proof of work is a counter for which SHA-256 of `prefix:digest:counter` starts with enough zero bits, where `digest` is base64url of SHA-256 of the ciphertext. It needs `difficulty` bits, and `perDoubling` more for each doubling of the ciphertext above 1,024 bytes, rounded down.',
  security: [{ sealed: [] }],
  request: { body: jsonBody(NewSecretRequest) },
  responses: {
    201: jsonResponse(CreateResponse, 'The secret was stored. The burn token is shown only once.'),
    ...errorResponses(sealedError, 'invalid_request', 'invalid_token', 'invalid_pow', 'full'),
    ...errorResponses(requestError, 'too_large'),
  },
})

export const revealRoute = createRoute({
  method: 'post',
  path: '/v1/secrets/{id}/reveal',
  tags,
  summary: 'Reveal a secret',
  description:
    'Uses a view, once per claim. A wrong passphrase is reported only to a holder of the link and uses one of ten tries. Every other wrong request gets the same response as a secret that does not exist.',
  request: { params, body: jsonBody(RevealRequest) },
  responses: {
    200: jsonResponse(RevealResponse, 'The encrypted secret'),
    ...errorResponses(sealedError, 'wrong_passphrase', 'not_available'),
    ...tooMany,
  },
})

export const ackRoute = createRoute({
  method: 'post',
  path: '/v1/secrets/{id}/ack',
  tags,
  summary: 'Acknowledge a secret',
  description:
    'Ends the time in which the same claim can read again. After the last view, this deletes the secret.',
  request: { params, body: jsonBody(AckRequest) },
  responses: {
    204: { description: 'Always, whether or not the claim existed' },
    ...tooMany,
  },
})

export const burnRoute = createRoute({
  method: 'delete',
  path: '/v1/secrets/{id}',
  tags,
  summary: 'Burn a secret',
  description: 'Destroys the secret. Requires its burn token.',
  request: { params, headers },
  responses: {
    204: { description: 'Always, whether or not the secret existed' },
    ...tooMany,
  },
})

export const statusRoute = createRoute({
  method: 'post',
  path: '/v1/secrets/{id}/status',
  tags,
  summary: 'Get the receipt',
  description:
    'Whether a secret that was created with a receipt was viewed, how often and when last. Also after it has ended, until seven days after its expiry.',
  request: { params, headers },
  responses: {
    200: jsonResponse(ReceiptResponse, 'The receipt'),
    ...errorResponses(sealedError, 'not_available'),
    ...tooMany,
  },
})
