/**
 * A whole service in miniature, as a pattern. In a service, each section is a file: the definition,
 * start, errors and tables at its root, and the rest in one folder for its noun, `notes/`.
 */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Db } from '@strongroom/kit/db'
import { conditionHeld, ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { defineErrors } from '@strongroom/kit/errors'
import { expr } from '@strongroom/kit/expression'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { declarePermissions } from '@strongroom/kit/http/permissions'
import type { RunningService, Service, ServiceDeps } from '@strongroom/kit/service'
import { defineTable } from '@strongroom/kit/table'

// tables.ts

const notesTable = defineTable({
  name: 'notes',
  description: 'Notes that can be read a few times',
  partitionKey: { name: 'PK', type: 'S' },
  pointInTimeRecovery: false,
})

// errors.ts

const noteError = defineErrors('notes', {
  exists: [409, 'A note with this name exists'],
  gone: [404, 'Note not found, or it was read often enough'],
})

// notes/item.ts

const NoteItem = z.object({ PK: z.string(), text: z.string(), 'reads-left': z.number().int() })
type Note = z.infer<typeof NoteItem>

// notes/store.ts: returns outcomes

type ReadOutcome = { kind: 'read'; note: Note } | { kind: 'not_found' }

function createNoteStore(db: Db) {
  const notes = entity(db, notesTable, NoteItem)
  const readsLeft = notes.attr('reads-left')
  const toKey = (name: string) => ({ PK: `NOTE#${name}` })
  return {
    /** False if there is a note with this name. */
    create(name: string, text: string): Promise<boolean> {
      const absent = expr`attribute_not_exists(${notes.attr('PK')})`
      return conditionHeld(notes.put({ ...toKey(name), text, 'reads-left': 2 }, absent))
    },

    async read(name: string): Promise<ReadOutcome> {
      const spend = expr`SET ${readsLeft} = ${readsLeft} - ${1}`
      try {
        const note = await notes.update(toKey(name), spend, expr`${readsLeft} > ${0}`)
        return { kind: 'read', note }
      } catch (error) {
        if (error instanceof ConditionFailed) return { kind: 'not_found' }
        throw error
      }
    },
  }
}
type NoteStore = ReturnType<typeof createNoteStore>

// notes/service.ts: the rules; throws the errors of the catalogue

function createNoteService(store: NoteStore) {
  return {
    async create(name: string, text: string): Promise<void> {
      if (!(await store.create(name, text))) throw noteError('exists')
    },

    async read(name: string): Promise<Note> {
      const outcome = await store.read(name)
      if (outcome.kind === 'not_found') throw noteError('gone')
      return outcome.note
    },
  }
}
type NoteService = ReturnType<typeof createNoteService>

// notes/view.ts

const NoteView = z.object({ text: z.string(), readsLeft: z.number() })

function toNoteView(note: Note): z.infer<typeof NoteView> {
  return { text: note.text, readsLeft: note['reads-left'] }
}

// notes/routes.ts

const permit = declarePermissions('Notes')

const createNoteRoute = createRoute({
  ...permit.public,
  method: 'put',
  path: '/v1/{name}',
  summary: 'Leave a note',
  request: {
    params: z.object({ name: z.string().regex(/^[a-z]{1,20}$/) }),
    body: jsonBody(z.object({ text: z.string().max(100) })),
  },
  responses: { 204: { description: 'Left' }, ...errorResponses(noteError, 'exists') },
})

const readNoteRoute = createRoute({
  ...permit.public,
  method: 'post',
  path: '/v1/{name}/read',
  summary: 'Read a note',
  request: { params: z.object({ name: z.string() }) },
  responses: {
    200: jsonResponse(NoteView, 'The note'),
    ...errorResponses(noteError, 'gone'),
  },
})

function noteRoutes(notes: NoteService): OpenAPIHono<AppEnv> {
  return new OpenAPIHono<AppEnv>()
    .openapi(createNoteRoute, async (c) => {
      await notes.create(c.req.valid('param').name, c.req.valid('json').text)
      return c.body(null, 204)
    })
    .openapi(readNoteRoute, async (c) => {
      const note = await notes.read(c.req.valid('param').name)
      return c.json(toNoteView(note), 200)
    })
}

// start.ts

function startNotes({ db }: Pick<ServiceDeps, 'db'>): RunningService {
  const routes = noteRoutes(createNoteService(createNoteStore(db)))
  return { loadRoutes: async () => ({ routes }) }
}

// service.ts

export const notesService: Service = {
  name: 'notes',
  title: 'Notes',
  summary: 'Leave a note that can be read twice',
  mount: '/notes',
  tables: [notesTable],
  errors: noteError,
  start: startNotes,
}
