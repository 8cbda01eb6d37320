// What a webhook is asked by both servers: the same hooks, in the same order, with the same review.
const told = ({ name, review }) => `${name} ${review.request.operation} ${review.request.resource.resource}${review.request.subResource ? `/${review.request.subResource}` : ''}`;

/** `differ(theirs, ours, told)` compares two values as if they were answers. Validating hooks are asked at the same time, so the order of reviews is no matter. */
export function compareReviews(differ, [theirs, ours]) {
  const [one, other] = [theirs, ours].map((list) => [...list].sort((a, b) => told(a).localeCompare(told(b))));
  const lists = [one, other].map((list) => list.map(told).join(', '));
  if (lists[0] !== lists[1]) return differ({ asked: lists[0] }, { asked: lists[1] }, 'hooks that were asked');
  for (const [at, { review }] of one.entries()) differ(review, other[at].review, `review of ${told(one[at])}`);
}
