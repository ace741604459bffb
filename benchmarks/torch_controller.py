"""The default controller in PyTorch, with given parameters, for a comparison of speed."""

import numpy as np
import torch
import torch.nn.functional as F

from main_jax.controller.network import MASKED_LOGIT, REACHES, surety

torch.set_num_threads(1)


class TorchController:
    def __init__(self, params: dict, context, agent):
        self._heads, self._channels = agent.task.num_heads, agent.controller.channels
        self._xi, self._sigma = (_tensor(x) for x in (context.xi, context.sigma))
        self._mask = torch.tensor(np.asarray(context.mask))[:, None]
        positions = np.broadcast_to(np.arange(context.mask.shape[1]), context.mask.shape)
        options = context.mask & REACHES[agent.controller.reach](positions, context.anchors)
        self._options = torch.tensor(np.asarray(options))[:, None]
        previous = torch.tensor(np.asarray(context.anchors)[:, None, : self._heads]).long()
        self._placed = previous >= 0  # [N, 1, H]; they stand nowhere before the first step
        self._previous = previous.clamp(min=0).expand(-1, self._channels, -1)
        self._surety = _tensor(surety(context.length))[:, None]
        self._params = []

        def parameter(x, transpose=None):
            x = np.asarray(x).transpose(transpose) if transpose else np.asarray(x)
            self._params.append(_tensor(x).requires_grad_())
            return self._params[-1]

        self._convolutions = [  # flax has [width, in, out], PyTorch [out, in, width]
            (parameter(layer["kernel"], (2, 1, 0)), parameter(layer["bias"]))
            for layer in (params["convolutions_0"], params["convolutions_1"])
        ]
        self._dense = {
            name: (parameter(params[name]["kernel"], (1, 0)), parameter(params[name]["bias"]))
            for name in ("hidden_0", "queries", "module", "value")
        }

    def forward(self):
        """Head logits, module logits and value."""
        cells = self._sigma.transpose(1, 2)  # [N, S, L]
        for kernel, bias in self._convolutions:
            cells = F.relu(F.conv1d(cells, kernel, bias, padding=1)) * self._mask
        at_heads = torch.gather(cells, 2, self._previous) * self._placed  # [N, C, H]
        hidden = torch.cat([at_heads.transpose(1, 2).flatten(1), self._xi], dim=-1)
        hidden = F.relu(F.linear(hidden, *self._dense["hidden_0"]))
        queries = F.linear(hidden, *self._dense["queries"]) * self._surety
        queries = queries.view(-1, self._heads, self._channels) * self._channels**-0.5
        heads = (queries @ cells).masked_fill(~self._options, MASKED_LOGIT)
        module = F.linear(hidden, *self._dense["module"]) * self._surety
        return heads, module, F.linear(hidden, *self._dense["value"])[:, 0]

    def forward_and_backward(self):
        loss = sum(x.square().sum() for x in self.forward())
        return torch.autograd.grad(loss, self._params)


def _tensor(x) -> torch.Tensor:
    return torch.tensor(np.asarray(x, np.float32))
