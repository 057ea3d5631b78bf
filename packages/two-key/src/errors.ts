/** What operators of Two-key, and Slack, may be told. */
import { defineErrors } from '@strongroom/kit/errors'

export const twoKeyError = defineErrors('two-key', {
  // Apps and tokens
  app_not_found: [404, 'There is no such app: see "strongroom slack apps"'],
  app_exists: [409, 'There is an app of this name: choose another, or change that one'],
  changed_meanwhile: [409, 'Somebody else has changed the app meanwhile: try again'],
  invalid_upstream: [400, 'Requests cannot be sent to this URL: correct what details name'],
  too_many_secrets: [
    409,
    'Too many signing secrets are in force: wait until one ends, or rotate without an overlap',
  ],
  token_not_found: [404, 'There is no token of this team'],
  token_rejected: [400, 'Slack does not accept this token: give the bot token of the installation'],
  token_of_other_team: [400, 'This token is of another team: give the team that it is of'],
  slack_unavailable: [503, 'Slack cannot be asked whose token it is: try again in a moment'],

  // What Slack is told beside what the two keys say
  invalid_event: [400, 'The event has no id that it could be known by'],
  store_unavailable: [503, 'The store does not answer: send it again'],
  event_in_progress: [503, 'The event is being handed over: send it again'],
  not_handed_over: [503, 'The app did not take the event: send it again'],
  app_unavailable: [502, 'The app did not answer in time, or not at all'],
})
