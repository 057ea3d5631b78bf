/** `/v1` of the key store, for operators. Keys in the clear are in no answer. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { createCursors, cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorOnly, type OperatorEnv } from '@strongroom/kit/http/operator-only'
import { operatorError, type Operators } from '@strongroom/kit/operators'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { BranchKeys } from './branch-keys.ts'
import { keyStoreError } from './errors.ts'

const SCOPE = ['key-store', 'keys'] as const
const CURSOR_SECRET = 'key-store-cursors'
