/** A whole service in miniature, as a pattern: table, errors, rules, routes. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { defineErrors } from '@strongroom/kit/errors'
import { expr } from '@strongroom/kit/expression'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Service, ServiceDeps } from '@strongroom/kit/service'
import { defineTable } from '@strongroom/kit/table'

const notesTable = defineTable({
  name: 'notes',
  description: 'Notes that can be read a few times',
  partitionKey: { name: 'PK', type: 'S' },
  pointInTimeRecovery: false,
})

const NoteItem = z.object({ PK: z.string(), text: z.string(), 'reads-left': z.number().int() })

const noteError = defineErrors('notes', {
  exists: [409, 'There is a note of this name'],
  gone: [404, 'There is no such note, or it was read often enough'],
})

function createNotes({ db }: Pick<ServiceDeps, 'db'>) {
  const notes = entity(db, notesTable, NoteItem)
  const readsLeft = notes.attr('reads-left')
  const orThrow = (code: 'exists' | 'gone') => (error: unknown) => {
    throw error instanceof ConditionFailed ? noteError(code) : error
  }
  return {
    async leave(name: string, text: string) {
      const absent = expr`attribute_not_exists(${notes.attr('PK')})`
      await notes
        .put({ PK: `NOTE#${name}`, text, 'reads-left': 2 }, absent)
        .catch(orThrow('exists'))
    },
    async read(name: string) {
      const spend = expr`SET ${readsLeft} = ${readsLeft} - ${1}`
      const left = expr`${readsLeft} > ${0}`
      return notes.update({ PK: `NOTE#${name}` }, spend, left).catch(orThrow('gone'))
    },
  }
}

const leaveRoute = createRoute({
  method: 'put',
  path: '/v1/{name}',
  summary: 'Leave a note',
  request: {
    params: z.object({ name: z.string().regex(/^[a-z]{1,20}$/) }),
    body: jsonBody(z.object({ text: z.string().max(100) })),
  },
  responses: { 204: { description: 'Left' }, ...errorResponses(noteError, 'exists') },
})

const readRoute = createRoute({
  method: 'post',
  path: '/v1/{name}/read',
  summary: 'Read a note',
  request: { params: z.object({ name: z.string() }) },
  responses: {
    200: jsonResponse(z.object({ text: z.string(), readsLeft: z.number() }), 'The note'),
    ...errorResponses(noteError, 'gone'),
  },
})

export const notesService: Service = {
  name: 'notes',
  title: 'Notes',
  summary: 'Leave a note that can be read twice',
  mount: '/notes',
  tables: [notesTable],
  errors: noteError,
  start(deps) {
    const notes = createNotes(deps)
    const routes = new OpenAPIHono<AppEnv>()
      .openapi(leaveRoute, async (c) => {
        await notes.leave(c.req.valid('param').name, c.req.valid('json').text)
        return c.body(null, 204)
      })
      .openapi(readRoute, async (c) => {
        const note = await notes.read(c.req.valid('param').name)
        return c.json({ text: note.text, readsLeft: note['reads-left'] }, 200)
      })
    return { routes }
  },
}
