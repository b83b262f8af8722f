"""From any average-hard network to a softmax network close to it: temperatures, and what proves them."""
