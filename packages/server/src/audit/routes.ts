/** `/server/v1/audit`: the audit log of operators. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { auditOutcomes } from '@strongroom/kit/audit-item'
import type { AuditLog } from '@strongroom/kit/audit-log'
import { MAX_VERIFIED_ENTRIES } from '@strongroom/kit/audit-verification'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import { toAuditEntryView } from './view.ts'

const Time = z.iso.datetime({ offset: true })
const Text = z.string().min(1).max(256)

const AuditEntryView = z
  .object({
    month: z.string().openapi({ example: '2030-01' }),
    seq: z.int().openapi({ description: 'Counts from 1 in each month, without gaps' }),
    at: z.string(),
    actor: z.string().openapi({ example: 'operator:admin' }),
    action: z.string().openapi({ example: 'form-bridge.site.suspended' }),
    target: z.string().nullable(),
    address: z.string().nullable(),
    outcome: z.enum(auditOutcomes),
    operation: z.string().nullable().openapi({ description: 'Connects `started` with its end' }),
    before: z.unknown(),
    after: z.unknown(),
    hash: z.string(),
  })
  .openapi('AuditEntry')

const AuditMonthCheckView = z
  .object({
    month: z.string().openapi({ example: '2030-01' }),
    entries: z.int().openapi({ description: 'Verified in this call' }),
    last: z.string().nullable().openapi({ description: 'The hash of the last verified entry' }),
    findings: z.array(
      z.object({ seq: z.int(), message: z.string().openapi({ example: 'The entry was changed' }) }),
    ),
  })
  .openapi('AuditMonthCheck')

export function auditRoutes(deps: {
  permit: OperatorPermissions
  pager: Pager
  auditLog: AuditLog
}): OpenAPIHono<AppEnv> {
  const { permit, pager, auditLog } = deps

  const list = createRoute({
    ...permit.admin,
    method: 'get',
    path: '/server/v1/audit',
    summary: 'List audit log entries, newest first',
    description: 'Every change by an operator, through any service or command. Kept for one year.',
    request: {
      query: z.object({
        limit: z.coerce.number().int().min(1).max(100).default(50),
        cursor: z.string().optional(),
        actor: Text.optional(),
        action: Text.optional(),
        target: Text.optional(),
        from: Time.optional(),
        to: Time.optional().openapi({ description: 'Exclusive' }),
      }),
    },
    responses: {
      200: jsonResponse(pageOf(AuditEntryView), 'A page of entries'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  const verify = createRoute({
    ...permit.admin,
    method: 'get',
    path: '/server/v1/audit/verification',
    summary: 'Verify the audit log',
    description: `Each call verifies up to ${MAX_VERIFIED_ENTRIES} entries, oldest month first; continue with the cursor. A month can be in several pages. The log is intact if no page has a finding.`,
    request: { query: z.object({ cursor: z.string().optional() }) },
    responses: {
      200: jsonResponse(pageOf(AuditMonthCheckView), 'What was found, by month'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { limit, cursor, ...filter } = c.req.valid('query')
      const { actor = '', action = '', target = '', from = '', to = '' } = filter
      const page = await pager(
        ['server.audit', actor, action, target, from, to],
        { limit, cursor },
        (request) => auditLog.list({ ...request, ...filter }),
        toAuditEntryView,
      )
      return c.json(page, 200)
    })
    .openapi(verify, async (c) => {
      const page = await pager(
        ['server.audit.verification'],
        { limit: MAX_VERIFIED_ENTRIES, ...c.req.valid('query') },
        auditLog.verifyPage,
        ({ last = null, ...check }) => ({ ...check, last }),
      )
      return c.json(page, 200)
    })
}
