from __future__ import annotations

import pytest
import torch

from maskrank.core.method.image_cnn import ImageCNN


def test_the_cnn_is_the_one_of_the_supplement() -> None:
    net = ImageCNN(1024, 15, image_shape=(32, 32))
    shapes = [tuple(p.shape) for p in net.parameters() if p.ndim > 1]
    assert shapes == [(32, 2, 5, 5), (64, 32, 3, 3), (128, 64, 3, 3), (30, 2048), (30, 30), (15, 30)]
    assert net(torch.zeros(2, 1024), torch.ones(2, 1024)).shape == (2, 15)


@pytest.mark.parametrize("shape", [(16, 16), (4, 256)])
def test_an_image_shape_that_does_not_fit_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="does not fit 1024 features"):
        ImageCNN(1024, 15, image_shape=shape)
