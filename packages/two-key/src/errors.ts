/** The errors of Two-key, for operators and for Slack. */
import { defineErrors } from '@strongroom/kit/errors'

export const twoKeyError = defineErrors('two-key', {
  // Apps and tokens
  app_not_found: [404, 'Slack app not found. List the apps with "strongroom slack apps".'],
  app_exists: [409, 'A Slack app with this name exists. Choose another name, or change that app.'],
  changed_meanwhile: [409, 'The app was changed at the same time. Try again.'],
  invalid_upstream: [400, 'Requests cannot be sent to this URL. Fix the problems in details.'],
  too_many_secrets: [
    409,
    'Too many signing secrets are active. Wait until one expires, or rotate without an overlap.',
  ],
  client_secret_required: [
    400,
    'The client secret is missing. Send the client secret that belongs to this client id.',
  ],
  token_not_found: [404, 'This team has no token'],
  token_rejected: [400, 'Slack rejected this token. Use the bot token of the installation.'],
  token_of_other_team: [
    400,
    'This token belongs to another team. Use the team that it belongs to.',
  ],
  slack_unavailable: [503, 'Slack cannot be reached to verify the token. Try again in a moment.'],

  // Responses to Slack, besides the rejections of the two keys
  invalid_event: [400, 'The event has no valid id'],
  store_unavailable: [503, 'The store does not respond. Send the request again.'],
  event_in_progress: [503, 'The event is being delivered. Send it again later.'],
  not_handed_over: [503, 'The app did not accept the event. Send it again.'],
  app_unavailable: [502, 'The app did not respond in time'],
})
