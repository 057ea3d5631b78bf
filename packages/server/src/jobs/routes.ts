/** `/server/v1/jobs`: long work that operators start. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import type { JobItem } from '@strongroom/kit/jobs/item'
import { jobError, type JobKind } from '@strongroom/kit/jobs/kind'
import { JobView, toJobView } from '@strongroom/kit/jobs/view'
import type { JobService } from './service.ts'

export function jobRoutes(deps: {
  /** Of operators of any service. */
  permit: OperatorPermissions
  pager: Pager
  jobs: JobService
  kinds: readonly JobKind[]
}): OpenAPIHono<AppEnv> {
  const { permit, pager, jobs, kinds } = deps
  const toView = (job: JobItem) => toJobView(job, jobs.fileOf(job))
  const ById = z.object({ id: z.string().max(64) })
  const notFound = errorResponses(jobError, 'not_found')
  const [first, ...others] = kinds.map(({ name, input, summary }) =>
    z.strictObject({ kind: z.literal(name), input }).openapi({ description: summary }),
  )
  if (!first) throw new TypeError('A server has at least one kind of jobs')
  const NewJob = z.discriminatedUnion('kind', [first, ...others]).openapi('NewJob')

  const start = createRoute({
    ...permit.editor,
    method: 'post',
    path: '/server/v1/jobs',
    summary: 'Start a job',
    description: `A server or worker runs it in steps, and continues it after a restart. Of each kind one job runs at a time. Roles by kind: ${kinds.map(({ name, role }) => `\`${name}\` ${role}`).join(', ')}.`,
    request: { body: jsonBody(NewJob) },
    responses: {
      202: jsonResponse(JobView, 'The job was started'),
      ...operatorErrors,
      ...errorResponses(jobError, 'already_running'),
    },
  })
  const list = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/jobs',
    summary: 'List jobs, newest first',
    description:
      'Jobs that run, and those that ended in the last 30 days. An operator that is limited to services sees their jobs only, so a page can be short.',
    request: {
      query: z.object({
        limit: z.coerce.number().int().min(1).max(100).default(50),
        cursor: z.string().optional(),
      }),
    },
    responses: {
      200: jsonResponse(pageOf(JobView), 'A page of jobs'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/jobs/{id}',
    summary: 'Get a job and its progress',
    request: { params: ById },
    responses: { 200: jsonResponse(JobView, 'The job'), ...operatorErrors, ...notFound },
  })
  const cancel = createRoute({
    ...permit.editor,
    method: 'post',
    path: '/server/v1/jobs/{id}/cancel',
    summary: 'Cancel a job',
    description: 'It ends after its current step. What it has done stays done.',
    request: { params: ById },
    responses: {
      202: jsonResponse(JobView, 'The cancellation was requested'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(jobError, 'ended'),
    },
  })
  const download = createRoute({
    ...permit.editor,
    method: 'get',
    path: '/server/v1/jobs/{id}/file',
    summary: 'Download the file of a job',
    description: 'Requires the role that starts jobs of this kind. Files are kept for seven days.',
    request: { params: ById },
    responses: {
      200: { description: 'The file, as an attachment' },
      ...operatorErrors,
      ...errorResponses(jobError, 'not_found', 'no_result'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(start, async (c) => {
      const { kind, input } = c.req.valid('json')
      const by = { ...c.get('actor'), operator: c.get('operatorRights') }
      return c.json(toView(await jobs.start(by, kind, input)), 202)
    })
    .openapi(list, async (c) => {
      const operator = c.get('operatorRights')
      const page = await pager(
        ['server.jobs'],
        c.req.valid('query'),
        (request) => jobs.list(operator, request),
        toView,
      )
      return c.json(page, 200)
    })
    .openapi(get, async (c) => {
      const job = await jobs.get(c.get('operatorRights'), c.req.valid('param').id)
      return c.json(toView(job), 200)
    })
    .openapi(cancel, async (c) => {
      const by = { ...c.get('actor'), operator: c.get('operatorRights') }
      return c.json(toView(await jobs.cancel(by, c.req.valid('param').id)), 202)
    })
    .openapi(download, async (c) => {
      const { id } = c.req.valid('param')
      const { file, parts } = await jobs.readFile(c.get('operatorRights'), id)
      c.header('content-type', file.contentType)
      c.header('content-length', String(file.bytes))
      c.header('content-disposition', `attachment; filename="${file.name}"`)
      return c.body(toStream(parts), 200)
    })
}

/** One part at a time, when the client takes it. */
function toStream(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}
