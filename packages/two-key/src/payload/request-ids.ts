/** Where commands, actions, shortcuts and views name team, user and channel. */
import type { SlackIds } from '../existence/verdict.ts'
import { idAt, sameId, slackIds } from './ids.ts'
import { type JsonObject, objectAt, own } from './json.ts'
import { PayloadRefused } from './refusal.ts'

export function commandIds(body: JsonObject): SlackIds {
  const team = idAt(own(body, 'team_id'))
  const user = idAt(own(body, 'user_id'))
  const channel = idAt(own(body, 'channel_id'))
  if (!team || !user || !channel) throw new PayloadRefused('missing_id')
  return slackIds({ team, enterprise: idAt(own(body, 'enterprise_id')), user, channel, teams: [] })
}

/**
 * One reading for all that people do with a mouse: whichever of them a handler takes a payload for,
 * what it reads is checked.
 */
export function interactionIds(body: JsonObject): SlackIds {
  const team = objectAt(body, 'team')
  const user = objectAt(body, 'user')
  const view = objectAt(body, 'view')
  const userId = idAt(own(user, 'id'))
  if (userId === undefined) throw new PayloadRefused('missing_id')
  const where = idAt(own(team, 'id'))
  const installed = idAt(own(view, 'app_installed_team_id')) ?? where
  // Of a view that was opened through a shared channel it is the organisation of the other side.
  const isElsewhere = where !== undefined && installed !== where
  const enterprise =
    idAt(own(objectAt(body, 'enterprise'), 'id')) ?? idAt(own(team, 'enterprise_id'))
  return slackIds({
    team: installed ?? idAt(own(user, 'team_id')),
    enterprise: isElsewhere ? undefined : enterprise,
    user: userId,
    channel: sameId(
      own(objectAt(body, 'channel'), 'id'),
      own(objectAt(body, 'container'), 'channel_id'),
    ),
    teams: [where, own(user, 'team_id'), own(view, 'team_id')],
  })
}
