/** The routes of the API as data, for OpenAPI and for whoever answers them. */
import { createRoute, z } from '@hono/zod-openapi'
import { requestError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import {
  AckRequest,
  BurnTokenHeader,
  Created,
  Issued,
  NewSecretRequest,
  ReceiptAnswer,
  Revealed,
  RevealRequest,
  SecretId,
} from './api.ts'
import { sealedError } from './errors.ts'

const tags = ['Sealed']
const params = z.object({ id: SecretId })
const headers = z.object({ 'X-Burn-Token': BurnTokenHeader })
const tooMany = errorResponses(requestError, 'rate_limited')

export const tokenRoute = createRoute({
  method: 'post',
  path: '/v1/token',
  tags,
  summary: 'Ask for a token',
  description:
    'A token makes one secret within five minutes, for some work in return. With the token of an operator there is no work.',
  security: [{}, { operator: [] }],
  responses: {
    200: jsonResponse(Issued, 'The token, the id of the secret to be and the work that it costs'),
    ...errorResponses(operatorError, 'unauthorized'),
    ...tooMany,
  },
})

export const createSecretRoute = createRoute({
  method: 'post',
  path: '/v1/secrets',
  tags,
  summary: 'Create a secret',
  description:
    'The work is a counter for which SHA-256 of `prefix:digest:counter` begins with enough zero bits, where `digest` is base64url of SHA-256 of the ciphertext: `difficulty`, and for each doubling of its bytes above 1,024 `perDoubling` more, rounded down.',
  security: [{ sealed: [] }],
  request: { body: jsonBody(NewSecretRequest) },
  responses: {
    201: jsonResponse(Created, 'Stored; the burn token is never shown again'),
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
    'Spends a view, once for each claim. A wrong passphrase is told to holders of the link only and costs one of ten tries; everything else that is wrong gets the same answer as a secret that was never there.',
  request: { params, body: jsonBody(RevealRequest) },
  responses: {
    200: jsonResponse(Revealed, 'The secret, still sealed'),
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
    'Ends the time in which the same claim reads again, and the secret with its last view.',
  request: { params, body: jsonBody(AckRequest) },
  responses: {
    204: { description: 'Always, whether or not there was anything to end' },
    ...tooMany,
  },
})

export const burnRoute = createRoute({
  method: 'delete',
  path: '/v1/secrets/{id}',
  tags,
  summary: 'Burn a secret',
  description: 'Destroys it for whoever has its burn token.',
  request: { params, headers },
  responses: {
    204: { description: 'Always, whether or not there was anything to burn' },
    ...tooMany,
  },
})

export const statusRoute = createRoute({
  method: 'post',
  path: '/v1/secrets/{id}/status',
  tags,
  summary: 'Ask for a receipt',
  description: 'What became of a secret that was created with a receipt.',
  request: { params, headers },
  responses: {
    200: jsonResponse(ReceiptAnswer, 'The receipt'),
    ...errorResponses(sealedError, 'not_available'),
    ...tooMany,
  },
})
